import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    title: 'Suchen und Befehle',
    label: 'Seite, Modul oder Befehl suchen',
    /** Short enough for the narrowest window. */
    hint: 'Seite, Modul oder Befehl',
    results: 'Treffer',
    none: 'Nichts gefunden.',
    count: (count: number) => (count === 1 ? '1 Treffer' : `${count} Treffer`),
    dashboards: 'Dashboards',
    commands: 'Befehle',
    newReminder: 'Neue Erinnerung',
    lightTheme: 'Helles Design',
    darkTheme: 'Dunkles Design',
    german: 'Sprache: Deutsch',
    english: 'Sprache: English',
  },
  en: {
    title: 'Search and commands',
    label: 'Search for a page, module or command',
    hint: 'Page, module or command',
    results: 'Results',
    none: 'Nothing found.',
    count: (count: number) => (count === 1 ? '1 result' : `${count} results`),
    dashboards: 'Dashboards',
    commands: 'Commands',
    newReminder: 'New reminder',
    lightTheme: 'Light theme',
    darkTheme: 'Dark theme',
    german: 'Language: Deutsch',
    english: 'Language: English',
  },
});
