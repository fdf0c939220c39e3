import { useState } from 'preact/hooks';
import { me as session } from '../session.ts';
import s from './avatar.module.css';
import { initialsOf } from './initials.ts';

interface AvatarProps {
  /** The name that stands beside the picture; the initials come from it. */
  name: string;
  userId?: string | undefined;
  /** Without it, only the initials are shown. */
  hasAvatar?: boolean | undefined;
  /** The picture of the signed-in account. */
  me?: boolean | undefined;
  size?: number | undefined;
  /** Another value loads the picture again. */
  version?: string | number | undefined;
}

/** The picture of an account, or its initials. The name must stand beside it: screen readers skip the picture. */
export function Avatar({ name, userId, hasAvatar, me, size = 24, version }: AvatarProps) {
  const id = me ? session.value?.id : userId;
  const isThere = me ? session.value?.hasAvatar : hasAvatar;
  const source = id && isThere ? `/users/${encodeURIComponent(id)}/avatar${version ? `?v=${version}` : ''}` : null;
  const [missing, setMissing] = useState<string | null>(null);
  return (
    <span class={s.avatar} style={{ width: size, height: size, fontSize: Math.round(size * 0.4) }} aria-hidden>
      {source && source !== missing ? (
        <img src={source} alt="" width={size} height={size} onError={() => setMissing(source)} />
      ) : (
        <span dir="auto">{initialsOf(name)}</span>
      )}
    </span>
  );
}
