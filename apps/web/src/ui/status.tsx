import { CircleCheck, CircleDashed, CircleX, Info, type IconNode, TriangleAlert } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import s from './status.module.css';

export type StatusKind = 'ok' | 'warning' | 'error' | 'unknown' | 'info';

/** A state as a word, a shape and a colour. */
export function Status({ kind, children }: { kind: StatusKind; children: ComponentChildren }) {
  return (
    <span class={s.status} data-kind={kind}>
      <Icon icon={shapes[kind]} />
      <span>{children}</span>
    </span>
  );
}

const shapes: Record<StatusKind, IconNode> = {
  ok: CircleCheck,
  warning: TriangleAlert,
  error: CircleX,
  unknown: CircleDashed,
  info: Info,
};
