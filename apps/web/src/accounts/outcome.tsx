import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Status, type StatusKind } from '../ui/status.tsx';
import s from './outcome.module.css';

interface OutcomeProps {
  kind: StatusKind;
  text: string;
  /** What to do next. */
  children?: ComponentChildren;
}

/** Takes the place of a form that is done, and its focus. */
export function Outcome({ kind, text, children }: OutcomeProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.focus(), []);
  return (
    <div ref={box} class={s.outcome} tabIndex={-1}>
      <Status kind={kind}>{text}</Status>
      {children}
    </div>
  );
}
