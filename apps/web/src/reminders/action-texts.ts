import { catalogue } from '../language.ts';

/** Apart from the texts of the page: the tile and the list of notices load only these. */
export const actionTexts = catalogue({
  de: {
    finished: 'Die Erinnerung ist erledigt.',
    snoozedUntil: (time: string) => `Wieder fällig: ${time}`,
    later: 'Später erinnern',
    presets: {
      in10min: 'In 10 Minuten',
      in1h: 'In 1 Stunde',
      thisEvening: 'Heute Abend, 18:00 Uhr',
      nextEvening: 'Morgen Abend, 18:00 Uhr',
      tomorrowMorning: 'Morgen früh, 8:00 Uhr',
      nextWeek: 'Nächsten Montag, 8:00 Uhr',
    },
    other: 'Anderer Zeitpunkt …',
    deleted: (title: string) => `„${title}“ wurde gelöscht.`,
    notDeleted: 'Die Erinnerung konnte nicht gelöscht werden und ist wieder da.',
    tooLate: 'Die Erinnerung ist schon gelöscht.',
    failed: 'Das hat nicht geklappt. Bitte versuchen Sie es erneut.',
    refusals: {
      REMINDER_NOT_DUE: 'Diese Erinnerung ist nicht mehr fällig. Sie wurde inzwischen verschoben oder erledigt.',
      NOT_FOUND: 'Diese Erinnerung wurde inzwischen gelöscht.',
      UNREACHABLE: 'Keine Verbindung. Bitte versuchen Sie es erneut, sobald sie wieder besteht.',
    },
  },
  en: {
    finished: 'The reminder is done.',
    snoozedUntil: (time: string) => `Due again: ${time}`,
    later: 'Remind me later',
    presets: {
      in10min: 'In 10 minutes',
      in1h: 'In 1 hour',
      thisEvening: 'This evening, 18:00',
      nextEvening: 'Tomorrow evening, 18:00',
      tomorrowMorning: 'Tomorrow morning, 8:00',
      nextWeek: 'Next Monday, 8:00',
    },
    other: 'Another time…',
    deleted: (title: string) => `“${title}” was deleted.`,
    notDeleted: 'The reminder could not be deleted and is back.',
    tooLate: 'The reminder is already deleted.',
    failed: 'This did not work. Please try again.',
    refusals: {
      REMINDER_NOT_DUE: 'This reminder is no longer due. It was snoozed or finished in the meantime.',
      NOT_FOUND: 'This reminder was deleted in the meantime.',
      UNREACHABLE: 'No connection. Please try again as soon as it is back.',
    },
  },
});
