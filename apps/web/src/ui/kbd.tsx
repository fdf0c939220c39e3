import type { ComponentChildren } from 'preact';
import s from './badge.module.css';

/** A key of the keyboard. */
export const Kbd = ({ children }: { children: ComponentChildren }) => <kbd class={s.kbd}>{children}</kbd>;

/** What keys do. Left out on telephones and tablets, which have none. */
export const KeyHint = ({ children }: { children: ComponentChildren }) => <span class={s.keys}>{children}</span>;
