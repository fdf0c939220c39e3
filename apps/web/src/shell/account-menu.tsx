import { Bug, CircleUser, LogOut } from 'lucide';
import { useLocation } from 'preact-iso/router';
import type { Language } from '../language.ts';
import { me } from '../session.ts';
import type { Theme } from '../theme.ts';
import { Menu } from '../ui/menu.tsx';
import { leaveWhenSaved } from '../ui/unsaved.ts';
import type { NavItem } from './nav-groups.ts';
import { openOverlay } from './overlay.ts';
import { usePreferences } from './preferences.ts';
import { useSignOut } from './sign-out.ts';
import { texts } from './texts.ts';

/** The pages of the account, theme and language, and the way out. */
export function AccountMenu({ pages }: { pages: readonly NavItem[] }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const change = usePreferences();
  const signOut = useSignOut();
  if (!me.value) return null;
  const { displayName, username, theme, language } = me.value;
  const themeItem = (label: string, value: Theme | null) => ({
    label,
    checked: theme === value,
    onSelect: () => change({ theme: value }),
  });
  const languageItem = (label: string, value: Language | null) => ({
    label,
    checked: language === value,
    onSelect: () => change({ language: value }),
  });
  return (
    <Menu
      label={t.accountOf(displayName || username)}
      icon={CircleUser}
      items={[
        ...pages.map(({ label, icon, href }) => ({ label, icon, onSelect: () => leaveWhenSaved(() => go(href)) })),
        'separator',
        themeItem(t.light, 'light'),
        themeItem(t.dark, 'dark'),
        themeItem(t.systemTheme, null),
        'separator',
        languageItem(t.german, 'de'),
        languageItem(t.english, 'en'),
        languageItem(t.browserLanguage, null),
        'separator',
        { label: t.reportBug, icon: Bug, onSelect: () => openOverlay('bugReport') },
        { label: t.signOut, icon: LogOut, onSelect: () => leaveWhenSaved(signOut.mutate) },
      ]}
    />
  );
}
