import type { ComponentChildren } from 'preact';
import s from './badge.module.css';

/** A key of the keyboard. */
export const Kbd = ({ children }: { children: ComponentChildren }) => <kbd class={s.kbd}>{children}</kbd>;
