import type { ComponentChildren } from 'preact';
import s from './badge.module.css';

interface BadgeProps {
  children: ComponentChildren;
  kind?: 'neutral' | 'ok' | 'warning' | 'error' | 'info' | 'accent' | undefined;
}

export const Badge = ({ children, kind = 'neutral' }: BadgeProps) => (
  <span class={s.badge} data-kind={kind} dir="auto">
    {children}
  </span>
);
