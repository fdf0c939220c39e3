import {
  Bug,
  CirclePlus,
  CircleQuestionMark,
  Languages,
  LayoutDashboard,
  LogOut,
  type IconNode,
  Plus,
  SunMoon,
} from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useTabs } from '../dashboards/tabs-query.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { leaveWhenSaved } from '../ui/unsaved.ts';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import type { NavGroups } from './nav-groups.ts';
import { closeOverlay, openOverlay } from './overlay.ts';
import { findEntries } from './palette-match.ts';
import { texts as paletteTexts } from './palette-texts.ts';
import s from './palette.module.css';
import { usePreferences } from './preferences.ts';
import { useSignOut } from './sign-out.ts';
import { texts } from './texts.ts';

interface Entry {
  id: string;
  label: string;
  icon: IconNode;
  run: () => void;
}

interface Section {
  label: string;
  entries: Entry[];
}

/** Finds pages, dashboards, modules and commands by some letters. */
export function Palette({ groups }: { groups: NavGroups }) {
  const t = paletteTexts.value;
  const [typed, setTyped] = useState('');
  const [activeId, setActiveId] = useState<string | null>(null);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const sections = useSections(groups)
    .map(({ label, entries }) => ({ label, entries: findEntries(entries, typed) }))
    .filter(({ entries }) => entries.length > 0);
  const found = sections.flatMap(({ entries }) => entries);
  const active = found.find(({ id }) => id === activeId) ?? found[0];
  const optionId = (entry: Entry) => `${listId}-${entry.id}`;

  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active?.id]);

  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    closeOverlay();
    entry.run();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const at = active ? found.indexOf(active) : -1;
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: Math.min(at + 8, found.length - 1),
      PageUp: Math.max(at - 8, 0),
    }[event.key];
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      choose(active);
    } else if (to !== undefined) {
      event.preventDefault();
      // After the last one comes the first one.
      setActiveId(found.at(to === found.length ? 0 : to)?.id ?? null);
    }
  };

  return (
    <Dialog title={t.title} onClose={closeOverlay}>
      <input
        class={s.input}
        type="text"
        role="combobox"
        aria-label={t.label}
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={active && optionId(active)}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        placeholder={t.hint}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setActiveId(null);
        }}
        onKeyDown={onKeyDown}
      />
      <div class={s.list} ref={list} id={listId} role="listbox" aria-label={t.results}>
        {sections.map((section) => (
          <div key={section.label} role="group" aria-label={section.label}>
            <div class={s.name} aria-hidden>
              {section.label}
            </div>
            {section.entries.map((entry) => (
              // The keys are those of the input, which keeps the focus.
              <button
                key={entry.id}
                class={s.option}
                id={optionId(entry)}
                type="button"
                role="option"
                tabIndex={-1}
                aria-selected={entry === active}
                onClick={() => choose(entry)}
              >
                <Icon icon={entry.icon} />
                <span dir="auto">{entry.label}</span>
              </button>
            ))}
          </div>
        ))}
      </div>
      <div role="status">
        {found.length === 0 ? (
          <p class={s.none}>{t.none}</p>
        ) : (
          typed !== '' && <VisuallyHidden>{t.count(found.length)}</VisuallyHidden>
        )}
      </div>
    </Dialog>
  );
}

function useSections(groups: NavGroups): Section[] {
  const t = texts.value;
  const p = paletteTexts.value;
  const { route: go } = useLocation();
  const change = usePreferences();
  const signOut = useSignOut();
  const tabs = useTabs();
  const link = (href: string, label: string, icon: IconNode): Entry => ({
    id: href,
    label,
    icon,
    run: () => leaveWhenSaved(() => go(href)),
  });
  const items = (which: keyof NavGroups) => groups[which].flatMap(({ items }) => items);
  const links = (...which: (keyof NavGroups)[]) =>
    which.flatMap(items).map(({ href, label, icon }) => link(href, label, icon));
  return [
    { label: t.pages, entries: links('main', 'account') },
    { label: t.administration, entries: links('admin') },
    {
      label: p.dashboards,
      entries: (tabs.data ?? []).map(({ id, name }) => link(`/app/tabs/${id}`, name, LayoutDashboard)),
    },
    { label: t.modules, entries: links('modules') },
    {
      label: p.commands,
      entries: [
        {
          id: 'new-reminder',
          label: p.newReminder,
          icon: Plus,
          run: () => leaveWhenSaved(() => go('/app/reminders?new=1')),
        },
        { id: 'new-module', label: t.addModule, icon: CirclePlus, run: () => openOverlay('customModule') },
        { id: 'light', label: p.lightTheme, icon: SunMoon, run: () => change({ theme: 'light' }) },
        { id: 'dark', label: p.darkTheme, icon: SunMoon, run: () => change({ theme: 'dark' }) },
        { id: 'system-theme', label: t.systemTheme, icon: SunMoon, run: () => change({ theme: null }) },
        { id: 'de', label: p.german, icon: Languages, run: () => change({ language: 'de' }) },
        { id: 'en', label: p.english, icon: Languages, run: () => change({ language: 'en' }) },
        { id: 'help', label: t.help, icon: CircleQuestionMark, run: () => openOverlay('help') },
        { id: 'bug-report', label: t.reportBug, icon: Bug, run: () => openOverlay('bugReport') },
        { id: 'sign-out', label: t.signOut, icon: LogOut, run: () => leaveWhenSaved(signOut.mutate) },
      ],
    },
  ];
}
