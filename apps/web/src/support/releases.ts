/** What is new in a release, for the people who use the portal. */
export interface Release {
  /** Null until the release has its number: what the build at hand will be called. */
  version: string | null;
  /** Such as `2026-11-26`; null until it is released. */
  date: string | null;
  notes: { de: readonly string[]; en: readonly string[] };
}

/** Newest first. At a release, the first entry gets its version and its date, as in `CHANGELOG.md`. */
export const releases: readonly Release[] = [
  {
    version: null,
    date: null,
    notes: {
      de: [
        'Das Portal hat Seiten im Browser, auf Deutsch und Englisch, hell und dunkel, auch für kleine Bildschirme.',
        'Dashboards mit Kacheln, die Sie frei anordnen, für jede Bildschirmgröße eigens.',
        'Erinnerungen, Server, Clouds, Ausschreibungen, Zertifikate, Abrechnung, Kalender und Rechnungen haben eigene Seiten.',
        'Gespeicherte Suchen nach Ausschreibungen melden Treffer per E-Mail: sofort, täglich oder wöchentlich.',
        'Suche und Befehle mit Strg+K, die Hilfe mit „?“. Die Tastatur allein genügt.',
        'Einen Fehler melden Sie von jeder Seite aus, auf Wunsch mit Bildschirmfoto, auf dem Sie Stellen schwärzen können.',
        'Mails zu Ausschreibungen sind kürzer, und sie abzubestellen kostet einen Klick.',
        'Kalender werden genauer gelesen. Was sich nicht lesen lässt, wird genannt statt ausgelassen.',
        'PFX-Dateien werden öfter gelesen. Eine Warnung nennt, was dabei übergangen wurde.',
      ],
      en: [
        'The portal has pages in the browser, in German and English, light and dark, also for small screens.',
        'Dashboards with tiles that you arrange freely, separately for each screen size.',
        'Reminders, servers, clouds, tenders, certificates, accounting, calendar and invoices have pages of their own.',
        'Saved searches of tenders tell you of matches by e-mail: at once, daily or weekly.',
        'Search and commands with Ctrl+K, help with “?”. The keyboard alone is enough.',
        'You can report a bug from every page, with a screenshot if you like, and black out parts of it.',
        'Mails about tenders are shorter, and ending them takes one click.',
        'Calendars are read more exactly. What cannot be read is named instead of left out.',
        'PFX files are read more often. A warning names what was passed over.',
      ],
    },
  },
];

/** The notes of the running release, and those of the releases before. */
export function notesFor(running: string, all: readonly Release[] = releases) {
  const known = all.findIndex(({ version }) => version === running.replace(/^v/, ''));
  // A build of the current state has the entry that has no number yet.
  const own = known === -1 ? all.findIndex(({ version }) => version === null) : known;
  return {
    current: all[own] ?? null,
    // What is newer than the running release is not there yet.
    earlier: all.slice(own + 1).filter(({ version }) => version !== null),
  };
}
