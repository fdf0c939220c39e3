import { signal } from '@preact/signals';
import { Cloud } from 'lucide';
import type { CloudInstance } from '@portal/client/interface';
import { Icon } from '../ui/icon.tsx';
import s from './cloud-status.module.css';

/** Counts the logos that this window has replaced: a new address makes the browser ask for them again. */
export const logoVersion = signal(0);

/** The logo of a cloud, or a sign for one that has none. The name stands beside it. */
export function CloudLogo({ cloud: { id, hasLogo } }: { cloud: Pick<CloudInstance, 'id' | 'hasLogo'> }) {
  if (!hasLogo) return <Icon icon={Cloud} size={32} class={s.logo} />;
  const address = `/cloud-status/instances/${encodeURIComponent(id)}/logo`;
  const query = logoVersion.value > 0 ? `?v=${logoVersion.value}` : '';
  return <img class={s.logo} src={address + query} alt="" width={32} height={32} loading="lazy" decoding="async" />;
}
