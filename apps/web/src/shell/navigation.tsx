import { signal } from '@preact/signals';
import { Plus } from 'lucide';
import { useId } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import type { NavGroup, NavGroups, NavItem } from './nav-groups.ts';
import s from './navigation.module.css';
import { openOverlay } from './overlay.ts';
import { texts } from './texts.ts';

interface NavigationProps {
  groups: NavGroups;
  isCurrent: (item: NavItem) => boolean;
}

const storedState = 'portal.navigation';

/** True if the navigation shows only icons. On a narrow window it begins so. */
export const isCollapsed = signal(
  (localStorage.getItem(storedState) ?? (matchMedia('(width < 1024px)').matches ? 'collapsed' : 'open')) ===
    'collapsed',
);

export function toggleNavigation(): void {
  isCollapsed.value = !isCollapsed.value;
  localStorage.setItem(storedState, isCollapsed.value ? 'collapsed' : 'open');
}

/** The navigation beside the page. Small screens have the bottom bar instead. */
export function SideNavigation({ groups, isCurrent, isWaiting }: NavigationProps & { isWaiting: boolean }) {
  return (
    <nav class={s.side} aria-label={texts.value.navigation}>
      <NavList groups={groups.main} isCurrent={isCurrent} hideLabels />
      {/* The modules would push away what stands below them. */}
      {!isWaiting && (
        <>
          <NavList groups={groups.modules} isCurrent={isCurrent} />
          <AddModule />
          <NavList groups={groups.account} isCurrent={isCurrent} />
          <NavList groups={groups.admin} isCurrent={isCurrent} />
        </>
      )}
    </nav>
  );
}

interface NavListProps {
  groups: readonly NavGroup[];
  isCurrent: (item: NavItem) => boolean;
  /** For groups whose place says what they are. */
  hideLabels?: boolean;
  /** The person follows a link. */
  onGo?: () => void;
}

export function NavList({ groups, hideLabels = false, ...links }: NavListProps) {
  return (
    <>
      {groups.map((group) => (
        <Group key={group.key} group={group} isNamed={!hideLabels} {...links} />
      ))}
    </>
  );
}

interface GroupProps extends Pick<NavListProps, 'isCurrent' | 'onGo'> {
  group: NavGroup;
  isNamed: boolean;
}

function Group({ group, isCurrent, isNamed, onGo }: GroupProps) {
  const id = useId();
  return (
    <div class={s.group}>
      {isNamed && (
        <span class={s.name} id={id} dir="auto">
          {group.label}
        </span>
      )}
      <ul class={s.list} aria-labelledby={isNamed ? id : undefined} aria-label={isNamed ? undefined : group.label}>
        {group.items.map((item) => (
          <li key={item.href}>
            <a
              class={s.entry}
              href={item.href}
              title={item.label}
              aria-current={isCurrent(item) ? 'page' : undefined}
              onPointerEnter={() => void item.route?.Page.preload()}
              onFocus={() => void item.route?.Page.preload()}
              onClick={onGo}
            >
              <Icon icon={item.icon} />
              <span dir="auto">{item.label}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

export function AddModule() {
  const t = texts.value;
  return (
    <button class={s.entry} type="button" title={t.addModule} onClick={() => openOverlay('customModule')}>
      <Icon icon={Plus} />
      <span>{t.addModule}</span>
    </button>
  );
}
