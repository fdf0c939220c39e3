import { mailTime } from '../../mail-time.ts';
import { edgeCase, person, samplesOf, sender, summerDay } from '../samples.ts';
import { reminderDue } from './due.ts';

export const samples = samplesOf(reminderDue, {
  plain: {
    ...sender,
    displayName: person.displayName,
    title: 'Angebot an die Stadtwerke schicken',
    note: null,
    dueAt: mailTime(summerDay),
  },
  edgeCase: {
    ...sender,
    displayName: edgeCase.displayName,
    title: edgeCase.displayName,
    note: 'Vorher mit Anna abstimmen:\n– <b>Preis</b>\n– Laufzeit\n\n\nUnterlagen: https://portal.example.com/?a=1&b=2',
    dueAt: mailTime(new Date('2026-10-25T00:30:00Z')),
  },
});
