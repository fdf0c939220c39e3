import { catalogue, formatNumber } from '../../language.ts';

export const texts = catalogue({
  de: {
    columns: 'Spalten',
    columnsHint: '1 bis 12. Leer: so viele, wie Platz haben.',
    showLabels: 'Namen anzeigen',

    showDone: 'Erledigte anzeigen',

    timeZone: 'Zeitzone',
    showSeconds: 'Sekunden anzeigen',

    address: 'Adresse',
    addressHint: 'Beginnt mit https://. Manche Websites lassen sich nicht einbetten.',
    title: 'Titel',
    titleHint: 'Leer: Name der Website.',
    reload: 'Neu laden',
    every: (seconds: number) => {
      if (seconds === 0) return 'Nie';
      if (seconds < 60) return `Alle ${seconds} Sekunden`;
      if (seconds < 3_600) return seconds === 60 ? 'Jede Minute' : `Alle ${formatNumber(seconds / 60)} Minuten`;
      return 'Jede Stunde';
    },

    pictures: 'Bilder',
    picturesHint: 'Sie wechseln in der Reihenfolge, in der Sie sie auswählen.',
    noPictures: 'Noch keine Bilder. Laden Sie unten welche hoch.',
    upload: 'Bilder hochladen',
    uploadHint: (size: string) => `PNG, JPEG, GIF oder WebP, je bis ${size}.`,
    uploading: (left: number) => (left === 1 ? 'Noch 1 Bild …' : `Noch ${left} Bilder …`),
    full: (max: number) => `Sie haben ${max} Bilder. Löschen Sie eines, um ein neues hochzuladen.`,
    interval: 'Wechsel',
    noChange: 'Nur das erste Bild',
    fit: 'Darstellung',
    cover: 'Rahmen füllen',
    contain: 'Ganzes Bild zeigen',

    days: 'Tage (1 bis 31)',
    calendars: 'Kalender',
    noCalendars: 'Sie haben noch keinen Kalender eingebunden.',

    savedSearch: 'Suche',
    allTenders: 'Alle offenen Ausschreibungen',
    noSearches: 'Gespeicherte Suchen erscheinen hier.',
    limit: 'Einträge (1 bis 20)',

    servers: 'Server',
    noServers: 'Noch keine Server eingerichtet.',
    clouds: 'Cloud-Instanzen',
    noClouds: 'Noch keine Cloud-Instanz eingerichtet.',
    compact: 'Kompakt',
    compactHint: 'Weniger Text je Zeile',

    allIfNone: 'Ohne Auswahl werden alle angezeigt.',
    chosen: (count: number) => `${count} ausgewählt.`,
    search: 'Suchen',
    noMatch: 'Nichts passt zu dieser Suche.',
    moreMatches: (count: number) => `${count} weitere. Grenzen Sie die Suche ein.`,
    off: 'Abgeschaltet',
  },
  en: {
    columns: 'Columns',
    columnsHint: '1 to 12. Empty: as many as fit.',
    showLabels: 'Show names',

    showDone: 'Show those done',

    timeZone: 'Time zone',
    showSeconds: 'Show seconds',

    address: 'Address',
    addressHint: 'Begins with https://. Some websites cannot be embedded.',
    title: 'Title',
    titleHint: 'Empty: name of the website.',
    reload: 'Reload',
    every: (seconds: number) => {
      if (seconds === 0) return 'Never';
      if (seconds < 60) return `Every ${seconds} seconds`;
      if (seconds < 3_600) return seconds === 60 ? 'Every minute' : `Every ${formatNumber(seconds / 60)} minutes`;
      return 'Every hour';
    },

    pictures: 'Pictures',
    picturesHint: 'They are shown in the order in which you choose them.',
    noPictures: 'No pictures yet. Upload some below.',
    upload: 'Upload pictures',
    uploadHint: (size: string) => `PNG, JPEG, GIF or WebP, up to ${size} each.`,
    uploading: (left: number) => (left === 1 ? '1 picture to go…' : `${left} pictures to go…`),
    full: (max: number) => `You have ${max} pictures. Delete one to upload another.`,
    interval: 'Change',
    noChange: 'Only the first picture',
    fit: 'Display',
    cover: 'Fill the frame',
    contain: 'Show the whole picture',

    days: 'Days (1 to 31)',
    calendars: 'Calendars',
    noCalendars: 'You have not added a calendar yet.',

    savedSearch: 'Search',
    allTenders: 'All open tenders',
    noSearches: 'Saved searches appear here.',
    limit: 'Entries (1 to 20)',

    servers: 'Servers',
    noServers: 'No servers yet.',
    clouds: 'Cloud instances',
    noClouds: 'No cloud instances yet.',
    compact: 'Compact',
    compactHint: 'Less text per row',

    allIfNone: 'If you choose none, all are shown.',
    chosen: (count: number) => `${count} chosen.`,
    search: 'Search',
    noMatch: 'Nothing matches this search.',
    moreMatches: (count: number) => `${count} more. Narrow the search down.`,
    off: 'Switched off',
  },
});
