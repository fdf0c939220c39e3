import { catalogue, formatNumber } from '../../language.ts';
import { type Found, germanSentence, type Sentence } from './german-findings.ts';
import { germanNotExamined, type NotExamined } from './german-not-examined.ts';
import { type RuleSubject, subjectOf } from './rule-subjects.ts';

export const texts = catalogue({
  de: {
    sentence: germanSentence,
    unread: (what: string) => `Keine Angabe möglich: ${what}.`,
    title: 'Befunde',
    titleOf: (name: string) => `Befunde von ${name}`,
    gone: 'Diesen Server gibt es nicht mehr.',
    lastOk: 'Zuletzt erreichbar:',
    since: 'Seit',
    fine: (count: number) => (count === 1 ? '1 weiterer Befund in Ordnung' : `${count} weitere Befunde in Ordnung`),
    notExamined: (count: number) => `Nicht geprüft: ${count}`,
    notExaminedItem: germanNotExamined,
    units: {
      percent: (value: string) => `${value} %`,
      days: (value: string, isOne: boolean) => `${value} ${isOne ? 'Tag' : 'Tage'}`,
      hours: (value: string, isOne: boolean) => `${value} ${isOne ? 'Stunde' : 'Stunden'}`,
      count: (value: string) => value,
    },
    subjects: {
      certificate: 'Zertifikat',
      subscription: 'Subscription',
      version: 'Version',
      quorum: 'Quorum',
      node: 'Knoten',
      memory: 'Arbeitsspeicher',
      root: 'Systemlaufwerk',
      swap: 'Auslagerungsspeicher',
      disk: 'Datenträger',
      pool: 'ZFS-Pool',
      replication: 'Replikation',
      storage: 'Speicher',
      fullIn: 'Reichweite des Speichers',
      maintenance: 'Wartung',
      guest: 'Gast',
      unbacked: 'Gäste ohne Sicherung',
      backup: 'Sicherung',
      backupAge: 'Alter der Sicherung',
      verification: 'Prüfung der Sicherungen',
      synchronization: 'Synchronisierung',
      prune: 'Aufräumen',
      collection: 'Speicherbereinigung',
      availability: 'Hochverfügbarkeit',
      task: 'Fehlgeschlagene Aufgaben',
      queue: 'Warteschlange',
      service: 'Dienst',
      signatures: 'Alter der Signaturen',
      mail: 'Mailverkehr',
      quarantine: 'Quarantäne',
      other: 'Befund',
    },
  },
  en: {
    sentence: ({ text }: Found, _subject: RuleSubject): Sentence | null => ({ text, isWhole: true }),
    unread: (what: string) => `Not known: ${what}.`,
    title: 'Findings',
    titleOf: (name: string) => `Findings of ${name}`,
    gone: 'This server no longer exists.',
    lastOk: 'Last reached:',
    since: 'Since',
    fine: (count: number) => (count === 1 ? '1 more finding is OK' : `${count} more findings are OK`),
    notExamined: (count: number) => `Not examined: ${count}`,
    notExaminedItem: ({ what, why }: NotExamined): string | null => `${what}: ${why}`,
    units: {
      percent: (value: string) => `${value} %`,
      days: (value: string, isOne: boolean) => `${value} ${isOne ? 'day' : 'days'}`,
      hours: (value: string, isOne: boolean) => `${value} ${isOne ? 'hour' : 'hours'}`,
      count: (value: string) => value,
    },
    subjects: {
      certificate: 'Certificate',
      subscription: 'Subscription',
      version: 'Version',
      quorum: 'Quorum',
      node: 'Node',
      memory: 'Memory',
      root: 'Root file system',
      swap: 'Swap',
      disk: 'Disk',
      pool: 'ZFS pool',
      replication: 'Replication',
      storage: 'Storage',
      fullIn: 'Time until full',
      maintenance: 'Maintenance',
      guest: 'Guest',
      unbacked: 'Guests without a backup',
      backup: 'Backup',
      backupAge: 'Age of the backup',
      verification: 'Verification of backups',
      synchronization: 'Synchronization',
      prune: 'Prune',
      collection: 'Garbage collection',
      availability: 'High availability',
      task: 'Failed tasks',
      queue: 'Queue',
      service: 'Service',
      signatures: 'Age of the signatures',
      mail: 'Mail flow',
      quarantine: 'Quarantine',
      other: 'Finding',
    },
  },
});

/** What a finding is about, and its figure: “Speicher nas – 84 %”. */
export function findingWords({ key, value }: Pick<Found, 'key' | 'value'>): string {
  const t = texts.value;
  const { subject, name, unit } = subjectOf(key);
  const what = `${t.subjects[subject]} ${name}`.trim();
  return value === null || unit === null ? what : `${what} – ${t.units[unit](formatNumber(value), value === 1)}`;
}

/** A finding as a sentence. If the page has no words for it, what it is about stands for it. */
export function sentenceOf(found: Found): Sentence {
  const t = texts.value;
  const sentence = t.sentence(found, subjectOf(found.key));
  if (sentence) return sentence;
  const words = findingWords(found);
  return { text: found.state === 'unknown' ? t.unread(words) : words, isWhole: false };
}
