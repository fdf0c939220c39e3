import { mailTime } from '../../mail-time.ts';
import { awkward, person, samplesOf, sender, summerDay } from '../samples.ts';
import { reminderDue } from './due.ts';

export const samples = samplesOf(reminderDue, {
  plain: {
    ...sender,
    displayName: person.displayName,
    title: 'Angebot an die Stadtwerke schicken',
    note: null,
    dueAt: mailTime(summerDay),
  },
  awkward: {
    ...sender,
    displayName: awkward.displayName,
    title: awkward.displayName,
    note: 'Vorher mit Anna abstimmen:\n– <b>Preis</b>\n– Laufzeit\n\n\nUnterlagen: https://portal.example.com/?a=1&b=2',
    dueAt: mailTime(new Date('2026-10-25T00:30:00Z')),
  },
});
