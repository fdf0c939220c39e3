import { CircleCheck, CircleDashed, CircleX, Info, type LucideIcon, TriangleAlert } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import s from './status.module.css';

export type StatusKind = 'ok' | 'warning' | 'error' | 'unknown' | 'info';

/** A state as a word, a shape and a colour. */
export function Status({ kind, children }: { kind: StatusKind; children: ComponentChildren }) {
  const Shape = shapes[kind];
  return (
    <span class={s.status} data-kind={kind}>
      <Shape size={16} aria-hidden />
      <span>{children}</span>
    </span>
  );
}

const shapes: Record<StatusKind, LucideIcon> = {
  ok: CircleCheck,
  warning: TriangleAlert,
  error: CircleX,
  unknown: CircleDashed,
  info: Info,
};
