/** What a check left out, and why, in the English words of the service. */
export interface NotExamined {
  what: string;
  why: string;
}

const subjects = new Map([
  ['backups', 'Sicherungen'],
  ['certificates', 'Zertifikate'],
  ['disks', 'Datenträger'],
  ['garbage collection', 'Speicherbereinigung'],
  ['namespaces', 'Namensräume'],
  ['replication', 'Replikation'],
  ['snapshots', 'Snapshots'],
  ['spam rules', 'Spamregeln'],
  ['status', 'Zustand'],
  ['subscription', 'Subscription'],
  ['tasks', 'Aufgaben'],
  ['updates', 'Updates'],
  ['ZFS pools', 'ZFS-Pools'],
]);
const prepositions = new Map([
  ['in', 'in'],
  ['of', 'von'],
]);

const reasons: readonly [pattern: RegExp, words: (name: string) => string][] = [
  [/^its turn comes in a later run$/, () => 'kommt bei einer späteren Prüfung an die Reihe'],
  [/^whether it should run has not been looked up yet$/, () => 'ob er laufen soll, ist noch nicht bekannt'],
  [/^(.+) does not answer$/, (name) => `${name} antwortet nicht`],
];

/** The entry in German; null if the page has no words for one of its parts. */
export function germanNotExamined({ what, why }: NotExamined): string | null {
  const subject = germanSubject(what);
  for (const [pattern, words] of reasons) {
    const found = pattern.exec(why);
    if (found && subject !== null) return `${subject}: ${words(found[1] ?? '')}`;
  }
  return null;
}

function germanSubject(what: string): string | null {
  const guest = /^Guest (.+)$/.exec(what);
  if (guest) return `Gast ${guest[1]}`;
  const [, kind = what, preposition, name] = /^(.+?) (in|of) (.+)$/.exec(what) ?? [];
  const subject = subjects.get(kind);
  if (subject === undefined) return null;
  return preposition === undefined ? subject : `${subject} ${prepositions.get(preposition)} ${name}`;
}
