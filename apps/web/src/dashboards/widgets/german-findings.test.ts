import { afterAll, beforeAll, expect, it } from 'vitest';
import { language } from '../../language.ts';
import { type Found, germanSentence } from './german-findings.ts';
import { subjectOf } from './rule-subjects.ts';

const before = language.value;
beforeAll(() => {
  language.value = 'de';
});
afterAll(() => {
  language.value = before;
});

const sentence = (key: string, state: Found['state'], value: number | null = null, text = 'In English.') =>
  germanSentence({ key, state, value, text }, subjectOf(key));

it.each<[string, Found['state'], number | null, string]>([
  ['node:pve3', 'critical', null, 'Knoten pve3 ist offline.'],
  ['node:pve3', 'ok', null, 'Knoten pve3 ist online.'],
  ['node:pve1:memory', 'warning', 91.5, 'Der Arbeitsspeicher von pve1 ist zu 91,5 % belegt.'],
  ['host:root', 'critical', 96, 'Das Systemlaufwerk ist zu 96 % belegt.'],
  ['certificate', 'critical', -1, 'Das Zertifikat ist abgelaufen.'],
  ['node:pve1:certificate', 'warning', 1, 'Das Zertifikat von pve1 ist noch einen Tag gültig.'],
  ['storage:local on pve1', 'warning', 84, 'Der Speicher local auf pve1 ist zu 84 % belegt.'],
  ['storage:nas', 'critical', null, 'Der Speicher nas ist nicht verfügbar und enthält Gäste oder Backups.'],
  ['datastore:tank:full-in', 'critical', 1, 'Bei diesem Tempo ist der Datastore tank in einem Tag voll.'],
  ['unbacked', 'ok', 0, 'Jeder Gast ist in einem Backupjob.'],
  ['backup-jobs', 'warning', 30, 'Das letzte Backup begann vor 30 Stunden.'],
  ['gc:tank:bad', 'critical', 1, 'Der Datastore tank enthält einen defekten Chunk.'],
  ['ha:lrm:pve1', 'warning', null, 'Knoten pve1 ist in Wartung.'],
  ['queue:old', 'warning', 1_234, '1.234 Mails sind seit mehr als 21 Stunden zurückgestellt.'],
  ['service:postfix', 'critical', null, 'Der Dienst postfix läuft nicht.'],
  ['mail:outgoing', 'warning', 1, 'In 24 Stunden ging eine Mail mit Spam oder Viren hinaus.'],
])('%s that is %s with %s says: %s', (key, state, value, text) => {
  expect(sentence(key, state, value)).toEqual({ text, isWhole: true });
});

it.each<[string, Found['state'], number | null, string]>([
  ['unbacked', 'warning', 2, '2 Gäste sind in keinem Backupjob.'],
  ['backup-tasks', 'critical', 3, '3 Backups sind in den letzten zwei Tagen fehlgeschlagen.'],
  ['tasks', 'warning', 1, 'Eine Aufgabe ist in den letzten 24 Stunden fehlgeschlagen.'],
  ['snapshots:tank', 'critical', 2, 'In tank haben 2 Snapshots die Prüfung nicht bestanden.'],
  ['backups:pve1', 'critical', 1, 'Auf pve1 ist das letzte Backup fehlgeschlagen.'],
])('%s that is %s leaves names and reasons to the sentence of the service', (key, state, value, text) => {
  expect(sentence(key, state, value)).toEqual({ text, isWhole: false });
});

it('names a guest as the service does', () => {
  expect(sentence('guest:101', 'critical', null, 'Guest 101 (web) should run but does not.')?.text).toBe(
    'Gast 101 (web) sollte laufen, läuft aber nicht.',
  );
  expect(sentence('guest:101', 'critical')?.text).toBe('Gast 101 sollte laufen, läuft aber nicht.');
});

it('has no words for a key that it does not know, and none for what could not be read', () => {
  expect(sentence('something:new', 'warning')).toBeNull();
  expect(sentence('node:pve1:memory', 'unknown')).toBeNull();
});
