import type { LdapSyncCounts } from '@portal/client/interface';
import { formatNumber } from '../language.ts';
import s from './directory.module.css';
import { texts } from './texts.ts';

const kinds = [
  'read',
  'created',
  'updated',
  'reactivated',
  'deactivated',
  'skipped',
  'groups',
  'memberships',
] as const satisfies (keyof LdapSyncCounts)[];

/** What a synchronization did or would do, in numbers. */
export function Counts({ counts }: { counts: LdapSyncCounts }) {
  const t = texts.value;
  return (
    <dl class={s.counts}>
      {kinds.map((kind) => (
        <div key={kind}>
          <dt>{t.counts[kind]}</dt>
          <dd>{formatNumber(counts[kind])}</dd>
        </div>
      ))}
    </dl>
  );
}
