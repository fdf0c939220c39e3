import type { ComponentChildren } from 'preact';
import s from './visually-hidden.module.css';

/** Text for screen readers only. */
export const VisuallyHidden = ({ children }: { children: ComponentChildren }) => (
  <span class={s.hidden}>{children}</span>
);
