import { describe, expect, it } from 'vitest';
import type { GuestCache } from './guest-lookups.ts';
import type { Row } from './rows.ts';
import { evaluateVirtualization, onlineNodes, type VirtualizationReading } from './virtualization.ts';

const now = 1_795_200_000;
const HOUR = 3_600;
const answer = <T>(data: T) => ({ readAt: now, data });
const refused = (failure: 'rechte' | 'netz' = 'rechte') => ({ readAt: now, failure, message: 'it said no.' });

const node = (name: string, more: Row = {}): Row => ({
  type: 'node',
  id: `node/${name}`,
  node: name,
  status: 'online',
  mem: 10,
  maxmem: 100,
  disk: 10,
  maxdisk: 100,
  ...more,
});
const guest = (vmid: number, more: Row = {}): Row => ({
  type: 'qemu',
  id: `qemu/${vmid}`,
  vmid,
  name: `guest${vmid}`,
  node: 'pve1',
  status: 'running',
  ...more,
});
const storage = (name: string, more: Row = {}): Row => ({
  type: 'storage',
  id: `storage/pve1/${name}`,
  storage: name,
  node: 'pve1',
  status: 'available',
  content: 'iso',
  disk: 10,
  maxdisk: 100,
  ...more,
});

const healthy: VirtualizationReading = {
  now,
  version: '9.2.11',
  certificateValidTo: new Date((now + 300 * 24 * HOUR) * 1_000),
  members: answer<Row[]>([
    { type: 'cluster', name: 'nord', quorate: 1 },
    { type: 'node', name: 'pve1', online: 1 },
  ]),
  resources: [node('pve1'), guest(101), storage('local')],
  tasks: answer<Row[]>([]),
  jobs: answer<Row[]>([]),
  unbacked: answer<Row[]>([]),
  availability: answer<Row[]>([]),
  nodes: {},
  guests: { ask: [], left: [] },
  known: {},
  maySeeGuests: null,
  notExamined: [],
};
const evaluate = (changes: Partial<VirtualizationReading>) => evaluateVirtualization({ ...healthy, ...changes });
const stateOf = (changes: Partial<VirtualizationReading>, key: string) =>
  evaluate(changes).findings.find((finding) => finding.key === key)?.state;
const withRows = (...rows: Row[]) => ({ resources: [node('pve1'), guest(101), storage('local'), ...rows] });
const ha = (...rows: Row[]) => ({ availability: answer(rows) });
const task = (more: Row) => ({
  node: 'pve1',
  type: 'vzdump',
  id: '',
  starttime: now - HOUR,
  endtime: now - HOUR,
  status: 'OK',
  ...more,
});
const job = (more: Row = {}) => answer<Row[]>([{ id: 'backup-1', enabled: 1, schedule: '21:00', ...more }]);
const backups = (...rows: Row[]) => ({ pve1: { backups: answer(rows) } });

const certificates = (...rows: [filename: string, days: number][]) => ({
  nodes: {
    pve1: {
      certificates: answer(rows.map(([filename, days]): Row => ({ filename, notafter: now + days * 24 * HOUR }))),
    },
  },
});

it('finds no problem in a healthy cluster', () => {
  const { findings, failure, summary, facts } = evaluate({});
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(failure).toBe(null);
  expect(summary).toBe('1 of 1 node online, 1 of 1 guest running');
  expect(facts).toContainEqual({ key: 'memory', label: 'Memory in use', value: 10, unit: 'percent' });
});

describe('the rules of a virtualization server', () => {
  it.each<[what: string, changes: Partial<VirtualizationReading>, key: string, state: string | undefined]>([
    ['a quorum that is lost', { members: answer<Row[]>([{ type: 'cluster', quorate: '0' }]) }, 'quorum', 'critical'],
    ['an unreported quorum', { members: answer<Row[]>([{ type: 'cluster' }]) }, 'quorum', 'unknown'],
    ['a single host', { members: answer<Row[]>([{ type: 'node', name: 'pve1', online: 1 }]) }, 'quorum', undefined],
    ['a cluster state that is refused', { members: refused() }, 'quorum', 'unknown'],
    ['a node that is offline', withRows(node('pve2', { status: 'offline' })), 'node:pve2', 'critical'],
    ['a node in an unknown state', withRows(node('pve2', { status: 'unknown' })), 'node:pve2', 'unknown'],
    ['memory at 90 %', { resources: [node('pve1', { mem: '90', maxmem: '100' })] }, 'node:pve1:memory', 'warning'],
    ['memory at 95 %', { resources: [node('pve1', { mem: 95 })] }, 'node:pve1:memory', 'critical'],
    ['unreported memory', { resources: [node('pve1', { mem: null })] }, 'node:pve1:memory', 'unknown'],
    ['a root file system at 79.9 %', { resources: [node('pve1', { disk: 79.9 })] }, 'node:pve1:root', 'ok'],
    ['a root file system at 80 %', { resources: [node('pve1', { disk: 80 })] }, 'node:pve1:root', 'warning'],
    ['a root file system at 90 %', { resources: [node('pve1', { disk: 90 })] }, 'node:pve1:root', 'critical'],
    [
      'swap at 80 %',
      { nodes: { pve1: { status: answer<Row>({ swap: { used: '80', total: '100' } }) } } },
      'node:pve1:swap',
      'warning',
    ],
    [
      'no swap',
      { nodes: { pve1: { status: answer<Row>({ swap: { used: 0, total: 0 } }) } } },
      'node:pve1:swap',
      undefined,
    ],
    ['a status that hangs', { nodes: { pve1: { status: refused('netz') } } }, 'node:pve1:swap', 'unknown'],
    ['a storage at 85 %', withRows(storage('nas', { disk: 85 })), 'storage:nas on pve1', 'warning'],
    ['a storage at 90 %', withRows(storage('nas', { disk: 90 })), 'storage:nas on pve1', 'critical'],
    ['a storage without a size', withRows(storage('nas', { maxdisk: 0 })), 'storage:nas on pve1', 'ok'],
    [
      'a storage with an unreported size',
      withRows(storage('nas', { maxdisk: null })),
      'storage:nas on pve1',
      'unknown',
    ],
    [
      'an unavailable storage with backups',
      withRows(storage('nas', { status: 'unknown', content: 'iso,backup' })),
      'storage:nas on pve1',
      'critical',
    ],
    [
      'an unavailable storage without guests or backups',
      withRows(storage('nas', { status: 'unknown' })),
      'storage:nas on pve1',
      'warning',
    ],
    [
      'a storage of an offline node',
      withRows(node('pve2', { status: 'offline' }), storage('nas', { node: 'pve2', status: 'unknown' })),
      'storage:nas on pve2',
      undefined,
    ],
    ['no storage at all', { resources: [node('pve1'), guest(101)] }, 'storages', 'unknown'],
    ['no guest, and no known rights', { resources: [node('pve1'), storage('local')] }, 'guests', 'unknown'],
    [
      'no guest, with the right to see guests',
      { resources: [node('pve1'), storage('local')], maySeeGuests: true },
      'guests',
      'ok',
    ],
    ['a guest in an unknown state', withRows(guest(102, { status: 'unknown' })), 'guests', 'unknown'],
    ['a service that is fenced', ha({ type: 'service', sid: 'vm:101', state: 'fence' }), 'ha:vm:101', 'critical'],
    [
      'a service in error',
      ha({ type: 'service', sid: 'vm:101', crm_state: 'error', state: 'started' }),
      'ha:vm:101',
      'critical',
    ],
    [
      'a service that should run',
      ha({ type: 'service', sid: 'vm:101', state: 'stopped', request_state: 'started' }),
      'ha:vm:101',
      'warning',
    ],
    [
      'a service that should be stopped',
      ha({ type: 'service', sid: 'vm:101', state: 'stopped', request_state: 'stopped' }),
      'ha:vm:101',
      'ok',
    ],
    [
      'a stale resource manager',
      ha({ type: 'lrm', node: 'pve1', timestamp: now - 121, status: 'pve1 (active)' }),
      'ha:lrm:pve1',
      'critical',
    ],
    [
      'an unreadable resource manager',
      ha({ type: 'lrm', node: 'pve1', timestamp: now, status: 'pve1 (unable to read lrm status)' }),
      'ha:lrm:pve1',
      'critical',
    ],
    [
      'a resource manager without a time',
      ha({ type: 'lrm', node: 'pve1', status: 'pve1 (active)' }),
      'ha:lrm:pve1',
      'critical',
    ],
    [
      'a node in maintenance',
      ha({ type: 'lrm', node: 'pve1', timestamp: now, status: 'pve1 (maintenance mode)' }),
      'ha:lrm:pve1',
      'warning',
    ],
    [
      'the resource manager of an offline node',
      ha({ type: 'lrm', node: 'pve9', timestamp: 0 }),
      'ha:lrm:pve9',
      undefined,
    ],
    ['fencing that is disarmed', ha({ type: 'fencing', 'armed-state': 'disarmed' }), 'ha:fencing', 'warning'],
    ['high availability that is refused', { availability: refused() }, 'ha', 'unknown'],
    ['a failed backup', { nodes: backups(task({ status: 'job errors' })) }, 'backups:pve1', 'critical'],
    [
      'a failed backup 27 hours ago',
      { nodes: backups(task({ status: 'job errors', endtime: now - 27 * HOUR })) },
      'backups:pve1',
      'ok',
    ],
    [
      'a failed backup that was repeated',
      { nodes: backups(task({ status: 'job errors', endtime: now - 2 * HOUR }), task({})) },
      'backups:pve1',
      'ok',
    ],
    ['a backup with warnings', { nodes: backups(task({ status: 'WARNINGS: 2' })) }, 'backups:pve1', 'warning'],
    [
      'a backup with an unexpected status',
      { nodes: backups(task({ status: 'unexpected status' })) },
      'backups:pve1',
      'unknown',
    ],
    ['a running backup', { nodes: backups(task({ status: undefined, endtime: undefined })) }, 'backups:pve1', 'ok'],
    [
      'no backup for 25 hours',
      { jobs: job(), nodes: backups(task({ starttime: now - 25 * HOUR })) },
      'backup-jobs',
      'ok',
    ],
    [
      'no backup for 27 hours',
      { jobs: job(), nodes: backups(task({ starttime: now - 27 * HOUR })) },
      'backup-jobs',
      'warning',
    ],
    [
      'no backup for 51 hours',
      { jobs: job(), nodes: backups(task({ starttime: now - 51 * HOUR })) },
      'backup-jobs',
      'critical',
    ],
    ['no backup ever', { jobs: job(), nodes: backups() }, 'backup-jobs', 'critical'],
    [
      'a weekly backup five days ago',
      { jobs: job({ schedule: 'sat 03:00' }), nodes: backups(task({ starttime: now - 120 * HOUR })) },
      'backup-jobs',
      'ok',
    ],
    ['a job that is switched off', { jobs: job({ enabled: '0' }), nodes: backups() }, 'backup-jobs', undefined],
    ['backups that were never read', { jobs: job() }, 'backup-jobs', undefined],
    ['backup jobs that are refused', { jobs: refused() }, 'backup-jobs', 'unknown'],
    ['a guest in no job', { unbacked: answer<Row[]>([{ vmid: 101, name: 'dc1' }]) }, 'unbacked', 'warning'],
    [
      'a template in no job',
      { ...withRows(guest(900, { template: 1 })), unbacked: answer<Row[]>([{ vmid: 900 }]) },
      'unbacked',
      'ok',
    ],
    [
      'a replication that fails',
      { nodes: { pve1: { replication: answer<Row[]>([{ id: '101-0', fail_count: 3, error: 'no route' }]) } } },
      'replication:101-0',
      'critical',
    ],
    [
      'a replication that failed',
      { nodes: { pve1: { replication: answer<Row[]>([{ id: '101-0', fail_count: '1' }]) } } },
      'replication:101-0',
      'warning',
    ],
    [
      'a failed task',
      { tasks: answer<Row[]>([task({ type: 'qmstart', status: 'command failed' })]) },
      'tasks',
      'warning',
    ],
    [
      'a failed console',
      { tasks: answer<Row[]>([task({ type: 'vncproxy', status: 'connection timed out' })]) },
      'tasks',
      'ok',
    ],
    [
      'a degraded pool',
      { nodes: { pve1: { pools: answer<Row[]>([{ name: 'rpool', health: 'DEGRADED' }]) } } },
      'node:pve1:pool:rpool',
      'warning',
    ],
    [
      'a faulted pool',
      { nodes: { pve1: { pools: answer<Row[]>([{ name: 'rpool', health: 'FAULTED' }]) } } },
      'node:pve1:pool:rpool',
      'critical',
    ],
    [
      'a failing disk',
      { nodes: { pve1: { disks: answer<Row[]>([{ devpath: '/dev/sda', health: 'FAILED!' }]) } } },
      'node:pve1:disk:/dev/sda',
      'critical',
    ],
    [
      'a worn disk',
      { nodes: { pve1: { disks: answer<Row[]>([{ devpath: '/dev/sda', health: 'PASSED', wearout: '9' }]) } } },
      'node:pve1:disk:/dev/sda',
      'warning',
    ],
    [
      'a disk that does not report its wear',
      { nodes: { pve1: { disks: answer<Row[]>([{ devpath: '/dev/sda', health: 'OK', wearout: 'N/A' }]) } } },
      'node:pve1:disk:/dev/sda',
      'ok',
    ],
    [
      'no subscription',
      { nodes: { pve1: { subscription: answer<Row>({ status: 'NotFound' }) } } },
      'node:pve1:subscription',
      'ok',
    ],
    [
      'an expired subscription',
      { nodes: { pve1: { subscription: answer<Row>({ status: 'expired' }) } } },
      'node:pve1:subscription',
      'critical',
    ],
    [
      'a subscription that is due',
      { nodes: { pve1: { subscription: answer<Row>({ status: 'active', nextduedate: '2026-12-01' }) } } },
      'node:pve1:subscription',
      'warning',
    ],
    [
      'a subscription in an unknown state',
      { nodes: { pve1: { subscription: answer<Row>({}) } } },
      'node:pve1:subscription',
      'unknown',
    ],
    [
      'a certificate valid for 30 days',
      { certificateValidTo: new Date((now + 30 * 24 * HOUR) * 1_000) },
      'certificate',
      'warning',
    ],
    [
      'a certificate valid for a week',
      { certificateValidTo: new Date((now + 7 * 24 * HOUR) * 1_000) },
      'certificate',
      'critical',
    ],
    ['an expired certificate', { certificateValidTo: new Date((now - 1) * 1_000) }, 'certificate', 'critical'],
    ['a node certificate valid for 30 days', certificates(['pve-ssl.pem', 30]), 'node:pve1:certificate', 'warning'],
    ['a node certificate valid for a week', certificates(['pve-ssl.pem', 7]), 'node:pve1:certificate', 'critical'],
    ['a node certificate valid for a year', certificates(['pve-ssl.pem', 365]), 'node:pve1:certificate', 'ok'],
    [
      'an uploaded certificate in place of the node’s own',
      certificates(['pve-ssl.pem', 1], ['pveproxy-ssl.pem', 90]),
      'node:pve1:certificate',
      'ok',
    ],
    ['a node that lists only its authority', certificates(['pve-root-ca.pem', 1]), 'node:pve1:certificate', 'unknown'],
    [
      'a node certificate with an impossible end',
      certificates(['pve-ssl.pem', 1e300]),
      'node:pve1:certificate',
      'unknown',
    ],
    [
      'a node certificate that is refused',
      { nodes: { pve1: { certificates: refused() } } },
      'node:pve1:certificate',
      'unknown',
    ],
    ['a version out of support', { version: '8.4.1' }, 'version', 'warning'],
    ['an unreported version', { version: null }, 'version', 'unknown'],
  ])('%s', (_, changes, key, state) => {
    expect(stateOf(changes, key)).toBe(state);
  });

  it('lists a shared storage once, with the figures of a node that has some', () => {
    const shared = (on: string, more: Row) => storage('nas', { id: `storage/${on}/nas`, node: on, shared: 1, ...more });
    const { findings } = evaluate(withRows(node('pve2'), shared('pve1', { maxdisk: 0 }), shared('pve2', { disk: 95 })));
    expect(findings.filter(({ key }) => key.startsWith('storage:nas'))).toEqual([
      expect.objectContaining({ key: 'storage:nas', state: 'critical', value: 95 }),
    ]);
  });
});

describe('a guest that does not run', () => {
  const stopped = (more: Row = {}) => guest(102, { status: 'stopped', ...more });
  const known = (onboot: boolean, readAt = now): GuestCache => ({ 'qemu/102': { onboot, readAt } });
  it.each<[what: string, row: Row, known: GuestCache, state: string | undefined]>([
    ['and should', stopped(), known(true), 'warning'],
    ['and should, in production', stopped({ tags: 'web;prod' }), known(true), 'critical'],
    ['and need not', stopped(), known(false), undefined],
    ['and has not been looked up', stopped(), {}, undefined],
    ['and was last looked up 25 hours ago', stopped(), known(true, now - 25 * HOUR), undefined],
    ['because it is being backed up', stopped({ lock: 'backup' }), known(true), undefined],
    ['because it is a template', stopped({ template: '1' }), known(true), undefined],
    ['because its node is gone', stopped({ node: 'pve9' }), known(true), undefined],
  ])('%s', (_, row, cache, state) => {
    const finding = evaluate({ ...withRows(row), known: cache }).findings.find(({ key }) => key === 'guest:102');
    expect(finding?.state).toBe(state);
    if (finding) expect(finding.needed).toBe(2);
  });

  it('is listed as not examined until it is looked up', () => {
    const row = stopped();
    const { findings, notExamined } = evaluate({
      ...withRows(row),
      known: known(true),
      guests: { ask: [], left: [row] },
    });
    expect(findings.some(({ key }) => key === 'guest:102')).toBe(false);
    expect(notExamined).toEqual([expect.objectContaining({ what: 'Guest 102 (guest102)' })]);
  });
});

it('reports missing rights if the server shows no node', () => {
  expect(evaluate({ resources: [] }).failure).toMatchObject({ class: 'rechte' });
});

it('asks no node that the cluster calls offline', () => {
  const members = answer<Row[]>([
    { type: 'node', name: 'pve1', online: 1 },
    { type: 'node', name: 'pve3', online: '0' },
  ]);
  expect(onlineNodes([node('pve3'), node('pve1'), node('pve2', { status: 'unknown' })], members)).toEqual(['pve1']);
});

it('shows hostile names as one line of text', () => {
  const hostile = { name: 'a\u0000\n\u202e<script>\ud800' + 'x'.repeat(10_000) };
  const { findings } = evaluate({
    ...withRows(guest(102, { ...hostile, status: 'unknown' })),
    unbacked: answer<Row[]>([{ vmid: 102, ...hostile }]),
  });
  for (const { text } of findings) {
    expect(text).toBe(text.toWellFormed());
    expect(text).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text.length).toBeLessThan(500);
  }
});

describe('the figures', () => {
  const figures = (changes: Partial<VirtualizationReading>) => evaluate(changes).figures;

  it('are those of all nodes that are online, and of the fullest storage', () => {
    expect(figures({})).toEqual({ cpu: null, memory: 10, fullest: 10, guests: 1 });
    const resources = [
      node('pve1', { cpu: 0.1, maxcpu: 8 }),
      node('pve2', { cpu: '0.4', maxcpu: 24, mem: 50 }),
      { type: 'node', id: 'node/pve3', node: 'pve3', status: 'offline' },
      guest(101),
      guest(102, { status: 'stopped' }),
      storage('local'),
      storage('nas', { disk: 71 }),
      storage('gone', { status: 'unknown' }),
    ];
    expect(figures({ resources })).toEqual({ cpu: expect.closeTo(32.5), memory: 30, fullest: 71, guests: 1 });
  });

  it('are missing if the server does not show them', () => {
    expect(figures({ resources: [node('pve1', { mem: undefined })] })).toEqual({
      cpu: null,
      memory: null,
      fullest: null,
      guests: null,
    });
    expect(figures({ resources: [node('pve1')], maySeeGuests: true })).toMatchObject({ guests: 0 });
  });
});
