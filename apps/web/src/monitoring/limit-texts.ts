import { catalogue } from '../language.ts';
import { type LimitedRule, limits } from './limits.ts';

const {
  memoryPercent,
  rootPercent,
  swapPercent,
  storagePercent,
  diskLifePercent,
  certificateDays,
  subscriptionDays,
  fullInDays,
  lastBackupHours,
  backupDelayHours,
  groupAgeHours,
  failedBackupHours,
  collectionDays,
  managerMinutes,
  deferredMails,
  oldMails,
  activeMails,
  signatureDays,
  spamRuleDays,
  outgoingMails,
  laggingMinutes,
} = limits;

/** What is a warning and what is critical; a dash where the rule has no such state. */
type Words = readonly [rule: string, warning: string, critical: string];

const german: Record<LimitedRule, Words> = {
  quorum: ['Quorum des Clusters', '–', 'verloren'],
  node: ['Knoten', '–', 'offline'],
  memory: ['Arbeitsspeicher', `ab ${memoryPercent.warning} %`, `ab ${memoryPercent.critical} %`],
  root: ['Systemlaufwerk', `ab ${rootPercent.warning} %`, `ab ${rootPercent.critical} %`],
  swap: ['Auslagerungsspeicher', `ab ${swapPercent.warning} %`, '–'],
  storage: [
    'Speicher',
    `ab ${storagePercent.warning} %, oder nicht verfügbar`,
    `ab ${storagePercent.critical} %, oder nicht verfügbar und mit Gästen oder Backups`,
  ],
  guest: ['Gast, der mit dem Knoten startet', 'läuft bei zwei Prüfungen nicht', 'ebenso, mit dem Tag „prod“'],
  unbacked: ['Gäste ohne Backupjob', 'ab 1 Gast', '–'],
  lastBackup: [
    `Letztes Backup je Knoten und Job, ${lastBackupHours} Stunden lang`,
    'mit Warnungen beendet',
    'fehlgeschlagen',
  ],
  backupAge: [
    'Alter des letzten Backups',
    `${backupDelayHours} Stunden über dem Abstand des häufigsten Jobs`,
    `${backupDelayHours} Stunden über dem doppelten Abstand, oder noch nie gelaufen`,
  ],
  availability: ['HA-Dienst', 'gestoppt, obwohl er laufen soll; Fencing abgeschaltet', 'Zustand „error“ oder „fence“'],
  manager: ['HA-Manager eines Knotens', 'Knoten in Wartung', `seit mehr als ${managerMinutes} Minuten ohne Meldung`],
  replication: ['Replikation', 'Fehlversuche', 'meldet einen Fehler'],
  disk: ['Datenträger', `weniger als ${diskLifePercent.warning} % Lebensdauer übrig`, 'meldet einen Defekt (SMART)'],
  pool: ['ZFS-Pool', 'DEGRADED', 'jeder andere Zustand außer ONLINE'],
  task: ['Fehlgeschlagene Aufgaben in 24 Stunden', 'ab 1', '–'],
  certificate: [
    'Zertifikat',
    `noch ${certificateDays.warning} Tage oder weniger gültig`,
    `noch ${certificateDays.critical} Tage oder weniger gültig, oder abgelaufen`,
  ],
  subscription: [
    'Subscription',
    `neu, ausgesetzt oder in höchstens ${subscriptionDays.warning} Tagen fällig`,
    'abgelaufen oder ungültig',
  ],
  version: ['Version', 'ohne Support des Herstellers', '–'],
  datastore: ['Datastore', 'in Wartung', 'nicht benutzbar'],
  fullIn: [
    'Reichweite eines Datastores',
    `voll in höchstens ${fullInDays.warning} Tagen`,
    `voll in höchstens ${fullInDays.critical} Tagen`,
  ],
  groupAge: [
    'Neuestes Backup jeder Gruppe (ohne „no-monitor“ im Kommentar)',
    `älter als ${groupAgeHours.warning} Stunden`,
    `älter als ${groupAgeHours.critical} Stunden`,
  ],
  failedBackup: [`Fehlgeschlagene Backups in ${failedBackupHours} Stunden`, '–', 'ab 1'],
  verification: ['Prüfung der Backups', 'mit Warnungen beendet', 'fehlgeschlagen, oder ein Snapshot ist defekt'],
  synchronization: ['Synchronisierung', 'einmal fehlgeschlagen', 'zweimal nacheinander fehlgeschlagen'],
  prune: ['Aufräumen (Prune)', 'fehlgeschlagen oder mit Warnungen beendet', '–'],
  collection: [
    'Speicherbereinigung (GC)',
    `ohne Zeitplan, mit Warnungen, nie gelaufen, ausgefallen oder seit ${collectionDays} Tagen überfällig`,
    'fehlgeschlagen',
  ],
  chunks: ['Defekte Chunks', '–', 'ab 1'],
  deferred: ['Zurückgestellte Mails', `ab ${deferredMails.warning}`, `ab ${deferredMails.critical}`],
  oldMails: ['Seit mehr als 21 Stunden zurückgestellte Mails', `ab ${oldMails.warning}`, '–'],
  active: ['Mails in der aktiven Warteschlange', `ab ${activeMails.warning}`, `ab ${activeMails.critical}`],
  service: ['Dienste', 'Virensignaturen werden nicht aktualisiert', 'ein benötigter Dienst läuft nicht'],
  signatures: ['Alter der Virensignaturen', `ab ${signatureDays.warning} Tagen`, `ab ${signatureDays.critical} Tagen`],
  spamRules: ['Alter der Spamregeln', `mehr als ${spamRuleDays.warning} Tage`, '–'],
  flow: ['Mailverkehr', 'keine Mail in 24 Stunden, obwohl üblich', '–'],
  outgoing: [
    'Ausgehende Mails mit Spam oder Viren in 24 Stunden',
    `ab ${outgoingMails.warning + 1}`,
    `mehr als ${outgoingMails.critical}`,
  ],
  peer: [
    'Knoten des Clusters',
    'hinkt hinterher',
    `hinkt seit ${laggingMinutes} Minuten hinterher, oder nicht erreichbar`,
  ],
};

const english: Record<LimitedRule, Words> = {
  quorum: ['Quorum of the cluster', '–', 'lost'],
  node: ['Node', '–', 'offline'],
  memory: ['Memory', `from ${memoryPercent.warning} %`, `from ${memoryPercent.critical} %`],
  root: ['Root file system', `from ${rootPercent.warning} %`, `from ${rootPercent.critical} %`],
  swap: ['Swap', `from ${swapPercent.warning} %`, '–'],
  storage: [
    'Storage',
    `from ${storagePercent.warning} %, or not available`,
    `from ${storagePercent.critical} %, or not available and holding guests or backups`,
  ],
  guest: ['Guest that starts with its node', 'does not run in two checks', 'the same, with the tag “prod”'],
  unbacked: ['Guests without a backup job', 'from 1 guest', '–'],
  lastBackup: [`Last backup of each node and job, for ${lastBackupHours} hours`, 'ended with warnings', 'failed'],
  backupAge: [
    'Age of the last backup',
    `${backupDelayHours} hours over the pause of the most frequent job`,
    `${backupDelayHours} hours over twice that pause, or never made`,
  ],
  availability: ['HA service', 'stopped although it should run; fencing disarmed', 'in state “error” or “fence”'],
  manager: ['HA manager of a node', 'node in maintenance', `has not reported for more than ${managerMinutes} minutes`],
  replication: ['Replication', 'failed attempts', 'reports an error'],
  disk: ['Disk', `less than ${diskLifePercent.warning} % of its life left`, 'reports a failure (SMART)'],
  pool: ['ZFS pool', 'DEGRADED', 'any other state except ONLINE'],
  task: ['Failed tasks in 24 hours', 'from 1', '–'],
  certificate: [
    'Certificate',
    `valid for ${certificateDays.warning} days or less`,
    `valid for ${certificateDays.critical} days or less, or expired`,
  ],
  subscription: [
    'Subscription',
    `new, suspended, or due within ${subscriptionDays.warning} days`,
    'expired or invalid',
  ],
  version: ['Version', 'no longer supported by its vendor', '–'],
  datastore: ['Datastore', 'in maintenance', 'cannot be used'],
  fullIn: [
    'Time until a datastore is full',
    `${fullInDays.warning} days or less`,
    `${fullInDays.critical} days or less`,
  ],
  groupAge: [
    'Newest backup of each group (without “no-monitor” in its comment)',
    `older than ${groupAgeHours.warning} hours`,
    `older than ${groupAgeHours.critical} hours`,
  ],
  failedBackup: [`Failed backups in ${failedBackupHours} hours`, '–', 'from 1'],
  verification: ['Verification of backups', 'ended with warnings', 'failed, or a snapshot is broken'],
  synchronization: ['Synchronization', 'failed once', 'failed twice in a row'],
  prune: ['Prune', 'failed or ended with warnings', '–'],
  collection: [
    'Garbage collection',
    `no schedule, warnings, never run, missed, or ${collectionDays} days overdue`,
    'failed',
  ],
  chunks: ['Bad chunks', '–', 'from 1'],
  deferred: ['Deferred mails', `from ${deferredMails.warning}`, `from ${deferredMails.critical}`],
  oldMails: ['Mails deferred for more than 21 hours', `from ${oldMails.warning}`, '–'],
  active: ['Mails in the active queue', `from ${activeMails.warning}`, `from ${activeMails.critical}`],
  service: ['Services', 'virus signatures are not refreshed', 'a required service does not run'],
  signatures: [
    'Age of the virus signatures',
    `from ${signatureDays.warning} days`,
    `from ${signatureDays.critical} days`,
  ],
  spamRules: ['Age of the spam rules', `more than ${spamRuleDays.warning} days`, '–'],
  flow: ['Mail flow', 'no mail in 24 hours although usual', '–'],
  outgoing: [
    'Outgoing mails with spam or viruses in 24 hours',
    `from ${outgoingMails.warning + 1}`,
    `more than ${outgoingMails.critical}`,
  ],
  peer: ['Node of the cluster', 'lags behind', `has lagged for ${laggingMinutes} minutes, or is not reachable`],
};

export const texts = catalogue({
  de: {
    title: (kind: string) => `Grenzwerte: ${kind}`,
    rule: 'Regel',
    warning: 'Warnung',
    critical: 'Kritisch',
    counts:
      'Eine Warnung zählt, wenn zwei Prüfungen nacheinander sie finden; Kritisches und Besserungen zählen sofort. Der schlechteste Befund bestimmt den Zustand des Servers.',
    unknown:
      'Unbekannt heißt: Das Portal konnte etwas nicht lesen. Ein nicht erreichbarer Server ist unbekannt, ab der zweiten Prüfung nacheinander kritisch. Auch ein Server, der drei Intervalle lang nicht geprüft wurde, ist unbekannt.',
    rules: german,
  },
  en: {
    title: (kind: string) => `Thresholds: ${kind}`,
    rule: 'Rule',
    warning: 'Warning',
    critical: 'Critical',
    counts:
      'A warning counts once two checks in a row find it; what is critical and what gets better counts at once. The worst finding decides the state of the server.',
    unknown:
      'Unknown means that the portal could not read something. A server that is not reachable is unknown, and critical from the second check in a row. A server that was not checked for three intervals is unknown as well.',
    rules: english,
  },
});
