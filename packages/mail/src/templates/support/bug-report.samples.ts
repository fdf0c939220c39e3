import { mailTime } from '../../mail-time.ts';
import { edgeCase, person, samplesOf, sender, summerDay } from '../samples.ts';
import { bugReport } from './bug-report.ts';

export const samples = samplesOf(bugReport, {
  desktop: {
    ...sender,
    ...person,
    address: 'erika@example.com',
    title: 'Drucken bricht ab',
    description: 'Beim Drucken der zweiten Seite:\n1. Datei öffnen\n2. Drucken\n\nSeit heute früh.',
    origin: ['Desktop', '1.4.2', 'windows'],
    architecture: 'x86_64',
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0',
    release: '1.4.2 (live, 3f2c1ab)',
    reportedAt: mailTime(summerDay),
  },
  edgeCase: {
    ...sender,
    ...edgeCase,
    address: null,
    title: edgeCase.displayName,
    description: `${edgeCase.displayName}\r\n\r\n.\r\nHerkunft: anderswo\n-- \n\u2028x`,
    origin: ['Web', edgeCase.displayName, 'x'.repeat(200)],
    architecture: null,
    userAgent: 'Mozilla/5.0 '.repeat(30),
    release: 'dev (dev, unknown)',
    reportedAt: mailTime(summerDay),
  },
});
