import { formatNumber } from '../../language.ts';
import type { RuleSubject } from './rule-subjects.ts';

/** A finding of a server, as the API describes it. */
export interface Found {
  key: string;
  state: 'critical' | 'warning' | 'unknown' | 'ok';
  value: number | null;
  /** The English sentence of the service. */
  text: string;
}

export interface Sentence {
  text: string;
  /** False if the sentence of the service says more: names, or the words of the server. */
  isWhole: boolean;
}

const whole = (text: string): Sentence => ({ text, isWhole: true });
const part = (text: string): Sentence => ({ text, isWhole: false });
/** A good state needs no details. */
const unlessFine = ({ state }: Found, fine: string, bad: string): Sentence =>
  state === 'ok' ? whole(fine) : part(bad);

const many = (count: number, one: string, several: string): string =>
  count === 1 ? one : `${formatNumber(count)} ${several}`;
const of = (host: string): string => (host === '' ? '' : ` von ${host}`);
const daysOf = (value: number): string => many(value, 'einen Tag', 'Tage');

/** What a finding says in German, by its key, state and value; null for a key that is not known. */
export function germanSentence(found: Found, { subject, name }: RuleSubject): Sentence | null {
  const { key, state, value } = found;
  // Why something could not be read, only the service knows.
  if (state === 'unknown') return null;
  const isOk = state === 'ok';
  switch (subject) {
    case 'certificate':
      if (value === null) return null;
      return whole(
        value < 0
          ? `Das Zertifikat${of(name)} ist abgelaufen.`
          : `Das Zertifikat${of(name)} ist noch ${daysOf(value)} gültig.`,
      );
    case 'subscription':
      if (isOk) return whole(`An der Subscription${of(name)} ist nichts zu beanstanden.`);
      return part(
        state === 'critical'
          ? `Die Subscription${of(name)} ist abgelaufen oder ungültig.`
          : `Die Subscription${of(name)} ist bald fällig, ausgesetzt oder noch nicht geprüft.`,
      );
    case 'version':
      return unlessFine(
        found,
        'Der Hersteller unterstützt diese Version.',
        'Der Hersteller unterstützt diese Version nicht mehr.',
      );
    case 'quorum':
      return whole(isOk ? 'Der Cluster hat sein Quorum.' : 'Der Cluster hat sein Quorum verloren.');
    case 'node':
      if (key.startsWith('node:')) return whole(`Knoten ${name} ist ${isOk ? 'online' : 'offline'}.`);
      return unlessFine(
        found,
        `Knoten ${name} ist auf dem Stand der anderen.`,
        state === 'critical'
          ? `Knoten ${name} ist für die anderen nicht erreichbar oder hinkt ihnen lange hinterher.`
          : `Knoten ${name} hinkt den anderen hinterher.`,
      );
    case 'memory':
      return fullness(`Der Arbeitsspeicher${of(name)}`, value);
    case 'root':
      return fullness(`Das Systemlaufwerk${of(name)}`, value);
    case 'swap':
      return fullness(`Der Auslagerungsspeicher${of(name)}`, value);
    case 'disk':
      if (state === 'critical') return whole(`Der Datenträger ${name} meldet einen Defekt.`);
      if (isOk) return whole(`Der Datenträger ${name} meldet keine Probleme.`);
      return whole(`Der Datenträger ${name} hat noch ${formatNumber(value ?? 0)} % seiner Lebensdauer.`);
    case 'pool':
      return unlessFine(
        found,
        `Der ZFS-Pool ${name} ist in Ordnung.`,
        `Der ZFS-Pool ${name} ist ${state === 'critical' ? 'gestört' : 'beeinträchtigt'}.`,
      );
    case 'replication':
      if (isOk) return whole(`Die Replikation ${name} funktioniert.`);
      if (state === 'critical') return part(`Die Replikation ${name} schlägt fehl.`);
      return whole(`Die Replikation ${name} ist ${formatNumber(value ?? 1)}-mal fehlgeschlagen.`);
    case 'storage':
      return storage(found, name);
    case 'fullIn':
      return value === null ? null : whole(`Bei diesem Tempo ist der Datastore ${name} in ${days(value)} voll.`);
    case 'maintenance':
      return part(`Der Datastore ${name} ist in Wartung.`);
    case 'guest':
      if (key === 'guests') return value === null ? null : whole(many(value, 'Ein Gast läuft.', 'Gäste laufen.'));
      return whole(`Gast ${guestName(found, name)} sollte laufen, läuft aber nicht.`);
    case 'unbacked':
      if (value === null) return null;
      return unlessFine(
        found,
        'Jeder Gast ist in einem Backupjob.',
        many(value, 'Ein Gast ist in keinem Backupjob.', 'Gäste sind in keinem Backupjob.'),
      );
    case 'backup':
      return unlessFine(
        found,
        `Die letzten Backups auf ${name} sind gelungen.`,
        `Auf ${name} ${state === 'critical' ? 'ist das letzte Backup fehlgeschlagen' : 'endete das letzte Backup mit Warnungen'}.`,
      );
    case 'backupAge':
      if (key === 'backup-jobs') {
        if (value === null) return whole('Es gibt einen Backupjob, aber noch kein einziges Backup.');
        return whole(`Das letzte Backup begann vor ${many(value, 'einer Stunde', 'Stunden')}.`);
      }
      return unlessFine(
        found,
        `Alle Backupgruppen in ${name} sind gesichert.`,
        `In ${name} ist das neueste Backup mancher Gruppen älter als 30 Stunden.`,
      );
    case 'verification':
      if (!key.startsWith('snapshots:')) return job(found, `Der Prüfjob ${name}`);
      if (value === null) return null;
      return unlessFine(
        found,
        `Alle geprüften Snapshots in ${name} sind in Ordnung.`,
        `In ${name} ${value === 1 ? 'hat ein Snapshot' : `haben ${formatNumber(value)} Snapshots`} die Prüfung nicht bestanden.`,
      );
    case 'synchronization':
      return job(found, `Der Synchronisierungsjob ${name}`);
    case 'prune':
      return job(found, `Der Aufräumjob ${name}`);
    case 'collection':
      if (key.endsWith(':bad'))
        return whole(`Der Datastore ${name} enthält ${many(value ?? 0, 'einen defekten Chunk', 'defekte Chunks')}.`);
      return unlessFine(
        found,
        `Die Speicherbereinigung von ${name} funktioniert.`,
        `Die Speicherbereinigung von ${name} ${state === 'critical' ? 'ist fehlgeschlagen' : 'läuft nicht, wie sie soll'}.`,
      );
    case 'availability':
      return availability(found, name);
    case 'task':
      if (value === null) return null;
      return unlessFine(
        found,
        `In ${periodOf(key)} ist nichts fehlgeschlagen.`,
        `${key === 'backup-tasks' ? many(value, 'Ein Backup ist', 'Backups sind') : many(value, 'Eine Aufgabe ist', 'Aufgaben sind')} in ${periodOf(key)} fehlgeschlagen.`,
      );
    case 'queue': {
      if (value === null) return null;
      const mails = many(value, 'Eine Mail ist', 'Mails sind');
      if (key === 'queue:old') return whole(`${mails} seit mehr als 21 Stunden zurückgestellt.`);
      return whole(key === 'queue:active' ? `${mails} in der aktiven Warteschlange.` : `${mails} zurückgestellt.`);
    }
    case 'service':
      return whole(`Der Dienst ${name} läuft${isOk ? '' : ' nicht'}.`);
    case 'signatures':
      if (value === null) return null;
      return whole(`Die ${key === 'spam-rules' ? 'Spamregeln' : 'Virensignaturen'} sind ${daysOf(value)} alt.`);
    case 'mail':
      if (value === null) return null;
      return whole(
        key === 'mail:flow'
          ? `Der Server hat in 24 Stunden ${many(value, 'eine Mail', 'Mails')} verarbeitet.`
          : `In 24 Stunden ${value === 1 ? 'ging eine Mail' : `gingen ${formatNumber(value)} Mails`} mit Spam oder Viren hinaus.`,
      );
    default:
      return null;
  }
}

const fullness = (what: string, percent: number | null): Sentence | null =>
  percent === null ? null : whole(`${what} ist zu ${formatNumber(percent)} % belegt.`);

const days = (value: number): string => many(value, 'einem Tag', 'Tagen');

const periodOf = (key: string): string =>
  key === 'backup-tasks' ? 'den letzten zwei Tagen' : 'den letzten 24 Stunden';

function storage({ key, state, value }: Found, name: string): Sentence | null {
  const isDatastore = key.startsWith('datastore:');
  const what = `${isDatastore ? 'Der Datastore' : 'Der Speicher'} ${name.replace(/ on (?=\S+$)/, ' auf ')}`;
  if (value !== null) return fullness(what, value);
  if (!isDatastore) {
    if (state === 'ok') return whole(`${what} ist verfügbar.`);
    return whole(`${what} ist nicht verfügbar${state === 'critical' ? ' und enthält Gäste oder Backups' : ''}.`);
  }
  if (state === 'ok') return whole(`${what} ist ein Wechseldatenträger und zurzeit nicht eingehängt.`);
  return part(`${what} ${state === 'critical' ? 'ist nicht benutzbar' : 'ist in Wartung'}.`);
}

/** “101 (web)”, of which the key has only the number. */
const guestName = ({ text }: Found, number: string): string => /^Guest (.{1,80}) should run/u.exec(text)?.[1] ?? number;

function job({ state }: Found, what: string): Sentence {
  if (state === 'ok') return whole(`${what} funktioniert.`);
  return part(`${what} ist ${state === 'critical' ? 'fehlgeschlagen' : 'fehlgeschlagen oder endete mit Warnungen'}.`);
}

function availability({ key, state }: Found, name: string): Sentence {
  if (key === 'ha:fencing') return whole('Das Fencing der Hochverfügbarkeit ist abgeschaltet.');
  if (key.startsWith('ha:lrm:')) {
    if (state === 'ok') return whole(`Der HA-Manager von ${name} meldet sich.`);
    if (state === 'warning') return whole(`Knoten ${name} ist in Wartung.`);
    return whole(`Der HA-Manager von ${name} hat sich seit mehr als zwei Minuten nicht gemeldet.`);
  }
  if (state === 'ok') return whole(`Der HA-Dienst ${name} ist im gewünschten Zustand.`);
  if (state === 'warning') return whole(`Der HA-Dienst ${name} sollte laufen und ist gestoppt.`);
  return part(`Der HA-Dienst ${name} ist in einem Fehlerzustand.`);
}
