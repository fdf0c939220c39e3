import type { ComponentChildren } from 'preact';
import s from './tabs.module.css';

interface TabsProps<Name extends string> {
  label: string;
  tabs: readonly { name: Name; label: ComponentChildren; href: string }[];
  current: Name;
}

/** Links to the views of a page or list, each with an address of its own. */
export const Tabs = <Name extends string>({ label, tabs, current }: TabsProps<Name>) => (
  <nav class={s.tabs} aria-label={label}>
    {tabs.map(({ name, label, href }) => (
      <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
        {label}
      </a>
    ))}
  </nav>
);
