import type { ComponentChildren } from 'preact';
import s from './filter-bar.module.css';

/** The fields that narrow a list, side by side where there is room. */
export const FilterBar = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div class={s.bar} role="search" aria-label={label}>
    {children}
  </div>
);
