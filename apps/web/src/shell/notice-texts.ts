import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    none: 'In den letzten 14 Tagen war nichts fällig.',
    unread: 'Neu:',
    done: 'Erledigt',
    allReminders: 'Alle Erinnerungen',
    desktop: 'Auch als Systemmeldung',
    desktopHint: 'Solange das Portal sichtbar, aber nicht im Vordergrund ist.',
    desktopDenied: 'Ihr Browser lässt für diese Seite keine Meldungen zu.',
  },
  en: {
    none: 'Nothing was due in the last 14 days.',
    unread: 'New:',
    done: 'Done',
    allReminders: 'All reminders',
    desktop: 'Also as a system message',
    desktopHint: 'While the portal is visible, but not in the foreground.',
    desktopDenied: 'Your browser does not allow messages from this page.',
  },
});
