import { Blocks, CircleUser, type IconNode } from 'lucide';
import { Icon } from '../ui/icon.tsx';
import s from './bottom-bar.module.css';
import type { NavGroups, NavItem } from './nav-groups.ts';
import { openOverlay, overlay } from './overlay.ts';
import { texts } from './texts.ts';

interface BottomBarProps {
  groups: NavGroups;
  isCurrent: (item: NavItem) => boolean;
}

/** The navigation of small screens. */
export function BottomBar({ groups, isCurrent }: BottomBarProps) {
  const t = texts.value;
  return (
    <nav class={s.bar} aria-label={t.navigation}>
      {groups.main.flatMap(({ items }) =>
        items.map((item) => (
          <a key={item.href} href={item.href} aria-current={isCurrent(item) ? 'page' : undefined}>
            <Icon icon={item.icon} size={20} />
            <span>{item.label}</span>
          </a>
        )),
      )}
      <SheetButton which="modules" icon={Blocks} label={t.modules} />
      <SheetButton which="account" icon={CircleUser} label={t.account} />
    </nav>
  );
}

function SheetButton({ which, icon, label }: { which: 'modules' | 'account'; icon: IconNode; label: string }) {
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-expanded={overlay.value === which}
      onClick={() => openOverlay(which)}
    >
      <Icon icon={icon} size={20} />
      <span>{label}</span>
    </button>
  );
}
