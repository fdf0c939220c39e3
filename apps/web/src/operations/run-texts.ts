import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    queued: 'Eingereiht …',
    running: 'Läuft …',
    progress: (done: string, total: string) => `${done} von ${total}`,
    succeeded: 'Erledigt:',
    failed: 'Fehlgeschlagen:',
  },
  en: {
    queued: 'Queued…',
    running: 'Running…',
    progress: (done: string, total: string) => `${done} of ${total}`,
    succeeded: 'Done:',
    failed: 'Failed:',
  },
});
