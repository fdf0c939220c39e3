import { Bug, CircleQuestionMark, LogOut } from 'lucide';
import type { Language } from '../language.ts';
import { me } from '../session.ts';
import type { Theme } from '../theme.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { leaveWhenSaved } from '../ui/unsaved.ts';
import type { NavGroups, NavItem } from './nav-groups.ts';
import { AddModule, NavList } from './navigation.tsx';
import { closeOverlay, openOverlay } from './overlay.ts';
import { usePreferences } from './preferences.ts';
import s from './sheet.module.css';
import { useSignOut } from './sign-out.ts';
import { texts } from './texts.ts';

interface SheetProps {
  kind: 'modules' | 'account';
  groups: NavGroups;
  isCurrent: (item: NavItem) => boolean;
}

/** What the side navigation and the menu of the account have, for small screens. */
export function Sheet({ kind, groups, isCurrent }: SheetProps) {
  const t = texts.value;
  return (
    <Dialog title={kind === 'modules' ? t.modules : t.account} onClose={closeOverlay}>
      {kind === 'modules' ? (
        <nav class={s.list} aria-label={t.modules}>
          {groups.modules.length === 0 && <p class={s.hint}>{t.noModules}</p>}
          <NavList groups={groups.modules} isCurrent={isCurrent} onGo={closeOverlay} />
          <AddModule />
        </nav>
      ) : (
        <>
          <nav class={s.list} aria-label={t.account}>
            <NavList groups={groups.account} isCurrent={isCurrent} onGo={closeOverlay} hideLabels />
            <NavList groups={groups.admin} isCurrent={isCurrent} onGo={closeOverlay} />
          </nav>
          <AccountChoices />
        </>
      )}
    </Dialog>
  );
}

function AccountChoices() {
  const t = texts.value;
  const change = usePreferences();
  const signOut = useSignOut();
  if (!me.value) return null;
  const { theme, language } = me.value;
  return (
    <>
      <SelectField
        label={t.theme}
        name="theme"
        value={theme ?? ''}
        onChange={(value) => change({ theme: (value || null) as Theme | null })}
        options={[
          { value: '', label: t.systemTheme },
          { value: 'light', label: t.light },
          { value: 'dark', label: t.dark },
        ]}
      />
      <SelectField
        label={t.language}
        name="language"
        value={language ?? ''}
        onChange={(value) => change({ language: (value || null) as Language | null })}
        options={[
          { value: '', label: t.browserLanguage },
          { value: 'de', label: t.german },
          { value: 'en', label: t.english },
        ]}
      />
      <div class={s.actions}>
        <Button icon={CircleQuestionMark} onClick={() => openOverlay('help')}>
          {t.help}
        </Button>
        <Button icon={Bug} onClick={() => openOverlay('bugReport')}>
          {t.reportBug}
        </Button>
        <Button icon={LogOut} busy={signOut.isPending} onClick={() => leaveWhenSaved(signOut.mutate)}>
          {t.signOut}
        </Button>
      </div>
    </>
  );
}
