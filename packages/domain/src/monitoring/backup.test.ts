import { describe, expect, it } from 'vitest';
import { type BackupReading, evaluateBackup } from './backup.ts';
import type { Row } from './rows.ts';

const now = 1_795_200_000;
const HOUR = 3_600;
const DAY = 24 * HOUR;
const answer = <T>(data: T) => ({ readAt: now, data });
const refused = { readAt: now, failure: 'rechte' as const, message: 'it said no.' };
const rows = (...list: Row[]) => answer<readonly Row[]>(list);

const store = (more: Row = {}): Row => ({
  store: 'nas',
  total: 100,
  used: 10,
  avail: 90,
  'mount-status': 'nonremovable',
  ...more,
});
const collection = (more: Row = {}) =>
  rows({ store: 'nas', schedule: 'daily', 'last-run-state': 'OK', 'last-run-endtime': now - HOUR, ...more });
const job = (more: Row = {}) =>
  rows({ id: 'j1', store: 'nas', 'last-run-state': 'OK', 'last-run-endtime': now - HOUR, ...more });
const group = (ageHours: number, more: Row = {}): Row => ({
  'backup-type': 'vm',
  'backup-id': '101',
  'last-backup': now - ageHours * HOUR,
  'backup-count': 7,
  ...more,
});
const groups = (...list: Row[]) => ({ groups: [{ store: 'nas', namespace: '', answer: rows(...list) }] });

const healthy: BackupReading = {
  now,
  version: '4.2.1',
  certificateValidTo: null,
  usage: [store()],
  stores: rows({ store: 'nas' }),
  status: answer<Row>({ memory: { used: 1, total: 10 }, root: { used: 1, total: 10 }, swap: { used: 0, total: 10 } }),
  collections: collection(),
  verifications: job(),
  syncs: job(),
  prunes: job(),
  failedTasks: rows(),
  namespaces: [],
  groups: [],
  snapshots: [],
  subscription: undefined,
  updates: undefined,
  disks: undefined,
  pools: undefined,
  maySeeSyncs: null,
  notExamined: [],
};
const evaluate = (changes: Partial<BackupReading>) => evaluateBackup({ ...healthy, ...changes });

it('finds no problem on a healthy server', () => {
  expect(evaluate({}).findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(evaluate({}).summary).toBe('1 datastore, the fullest at 10 %');
});

describe('the rules of a backup server', () => {
  it.each<[what: string, changes: Partial<BackupReading>, key: string, state: string | undefined]>([
    ['a datastore at 80 %', { usage: [store({ used: '80' })] }, 'datastore:nas', 'warning'],
    ['a datastore at 90 %', { usage: [store({ used: 90 })] }, 'datastore:nas', 'critical'],
    ['a datastore without data', { usage: [{ store: 'nas' }] }, 'datastore:nas', 'unknown'],
    [
      'a datastore of an old version without sizes',
      { usage: [store({ total: -1, used: -1 })] },
      'datastore:nas',
      'unknown',
    ],
    ['a datastore with an error', { usage: [{ store: 'nas', error: 'no such file' }] }, 'datastore:nas', 'critical'],
    [
      'a removable datastore that is not mounted',
      { usage: [{ store: 'nas', 'mount-status': 'notmounted', error: 'not mounted' }] },
      'datastore:nas',
      'ok',
    ],
    [
      'a datastore in maintenance',
      {
        usage: [{ store: 'nas', error: 'offline' }],
        stores: rows({ store: 'nas', maintenance: 'offline,message=disks' }),
      },
      'datastore:nas',
      'warning',
    ],
    [
      'a read-only datastore',
      { stores: rows({ store: 'nas', maintenance: 'read-only' }) },
      'datastore:nas:maintenance',
      'warning',
    ],
    [
      'a datastore that is full in a month',
      { usage: [store({ 'estimated-full-date': now + 30 * DAY })] },
      'datastore:nas:full-in',
      'warning',
    ],
    [
      'a datastore that is full in a week',
      { usage: [store({ 'estimated-full-date': now + 7 * DAY })] },
      'datastore:nas:full-in',
      'critical',
    ],
    [
      'a datastore that is full in 90 days',
      { usage: [store({ 'estimated-full-date': now + 90 * DAY })] },
      'datastore:nas:full-in',
      'ok',
    ],
    [
      'a shrinking datastore',
      { usage: [store({ 'estimated-full-date': now - DAY })] },
      'datastore:nas:full-in',
      undefined,
    ],
    [
      'a datastore that never changes',
      { usage: [store({ 'estimated-full-date': 0 })] },
      'datastore:nas:full-in',
      undefined,
    ],
    ['datastores that are refused', { stores: refused }, 'datastores', 'unknown'],
    ['a status that is refused', { status: refused }, 'host', 'unknown'],
    [
      'a full root file system',
      { status: answer<Row>({ memory: { used: 1, total: 10 }, root: { used: 9, total: 10 } }) },
      'host:root',
      'critical',
    ],
    [
      'a collection that failed',
      { collections: collection({ 'last-run-state': 'cannot lock' }) },
      'gc:nas',
      'critical',
    ],
    [
      'a collection with warnings',
      { collections: collection({ 'last-run-state': 'WARNINGS: 1' }) },
      'gc:nas',
      'warning',
    ],
    ['a collection without a schedule', { collections: collection({ schedule: undefined }) }, 'gc:nas', 'warning'],
    ['a collection that never ran', { collections: rows({ store: 'nas', schedule: 'daily' }) }, 'gc:nas', 'warning'],
    [
      'a collection three weeks ago',
      { collections: collection({ 'last-run-endtime': now - 21 * DAY }) },
      'gc:nas',
      'warning',
    ],
    [
      'a monthly collection three weeks ago',
      { collections: collection({ schedule: 'monthly', 'last-run-endtime': now - 21 * DAY }) },
      'gc:nas',
      'ok',
    ],
    ['a collection that is overdue', { collections: collection({ 'next-run': now - 2 * DAY }) }, 'gc:nas', 'warning'],
    ['bad chunks', { collections: collection({ 'still-bad': 3 }) }, 'gc:nas:bad', 'critical'],
    ['no data about the collection', { collections: rows() }, 'gc:nas', 'unknown'],
    [
      'a failed verification',
      { verifications: job({ 'last-run-state': 'verification failed - please check the log' }) },
      'verify:j1',
      'critical',
    ],
    ['a failed prune', { prunes: job({ 'last-run-state': 'no permission' }) }, 'prune:j1', 'warning'],
    ['a job that has not run', { prunes: rows({ id: 'j1', store: 'nas' }) }, 'prune:j1', 'ok'],
    ['no synchronization, and no known rights', { syncs: rows() }, 'sync', 'unknown'],
    ['no synchronization, with the right to see it', { syncs: rows(), maySeeSyncs: true }, 'sync', undefined],
    [
      'a failed backup',
      {
        failedTasks: rows({
          worker_type: 'backup',
          worker_id: 'nas:vm/101',
          status: 'connection error',
          endtime: now - 47 * HOUR,
        }),
      },
      'backup-tasks',
      'critical',
    ],
    [
      'a failed backup 49 hours ago',
      { failedTasks: rows({ worker_type: 'backup', status: 'connection error', endtime: now - 49 * HOUR }) },
      'backup-tasks',
      'ok',
    ],
    [
      'a backup with warnings',
      { failedTasks: rows({ worker_type: 'backup', status: 'WARNINGS: 1', endtime: now }) },
      'backup-tasks',
      'ok',
    ],
    ['a backup 30 hours old', groups(group(30)), 'groups:nas', 'ok'],
    ['a backup 31 hours old', groups(group(1), group(31)), 'groups:nas', 'warning'],
    ['a backup 51 hours old', groups(group(51)), 'groups:nas', 'critical'],
    ['a group that is not monitored', groups(group(500, { comment: 'old, no-monitor' })), 'groups:nas', 'ok'],
    ['a group without a time', groups(group(1, { 'last-backup': null })), 'groups:nas', 'unknown'],
    ['namespaces that are refused', { namespaces: [{ store: 'nas', answer: refused }] }, 'namespaces:nas', 'unknown'],
    ['namespaces that are read', { namespaces: [{ store: 'nas', answer: rows() }] }, 'namespaces:nas', undefined],
    [
      'namespaces of a server that has none',
      { namespaces: [{ store: 'nas', answer: { ...refused, failure: 'antwortform' } }] },
      'namespaces:nas',
      undefined,
    ],
    [
      'groups that are refused',
      { groups: [{ store: 'nas', namespace: 'east', answer: refused }] },
      'groups:nas/east',
      'unknown',
    ],
    [
      'a snapshot that failed its verification',
      { snapshots: [{ store: 'nas', answer: rows(group(1)) }] },
      'snapshots:nas',
      'critical',
    ],
    ['a suspended subscription', { subscription: answer<Row>({ status: 'suspended' }) }, 'subscription', 'warning'],
    ['a version out of support', { version: '3.4.2' }, 'version', 'warning'],
  ])('%s', (_, changes, key, state) => {
    expect(evaluate(changes).findings.find((finding) => finding.key === key)?.state).toBe(state);
  });

  it('warns when a synchronization fails once, and is critical the second time', () => {
    const [finding] = evaluate({ syncs: job({ 'last-run-state': 'remote not reached' }) }).findings.filter(
      ({ key }) => key === 'sync:j1',
    );
    expect(finding).toMatchObject({ state: 'critical', needed: 2, meanwhile: 'warning' });
  });

  it('reports missing rights if the server shows no datastore', () => {
    expect(evaluate({ usage: [] }).failure).toMatchObject({ class: 'rechte' });
  });
});

it('the figures are those of the host and of its fullest datastore', () => {
  expect(evaluate({ usage: [store(), store({ store: 'tape', used: 44 })] }).figures).toEqual({
    cpu: null,
    memory: 10,
    fullest: 44,
  });
  expect(evaluate({ status: answer<Row>({ cpu: 0.25 }) }).figures).toMatchObject({ cpu: 25, memory: null });
  expect(evaluate({ status: refused, usage: [] }).figures).toEqual({ cpu: null, memory: null, fullest: null });
});
