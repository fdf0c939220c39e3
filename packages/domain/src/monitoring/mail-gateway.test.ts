import { describe, expect, it } from 'vitest';
import { buildTime, evaluateMailGateway, type MailGatewayReading } from './mail-gateway.ts';
import type { Row } from './rows.ts';

const now = Date.UTC(2026, 10, 20, 8) / 1_000;
const DAY = 86_400;
const answer = <T>(data: T) => ({ readAt: now, data });
const refused = { readAt: now, failure: 'rechte' as const, message: 'it said no.' };
const rows = (...list: Row[]) => answer<readonly Row[]>(list);

const running = (service: string, more: Row = {}): Row => ({
  service,
  state: 'running',
  'unit-state': 'enabled',
  'active-state': 'active',
  ...more,
});
const required = [
  'postfix',
  'pmg-smtp-filter',
  'pmgpolicy',
  'pmgdaemon',
  'pmgproxy',
  'postgres',
  'clamav-daemon',
  'clamav-freshclam',
];
const services = (...changed: Row[]) =>
  rows(
    ...required.filter((name) => !changed.some(({ service }) => service === name)).map((name) => running(name)),
    ...changed,
  );
const queue = (total: string, old = '0') =>
  rows({ domain: 'TOTAL', total, '1280m+': old }, { domain: 'example.net', total });

const healthy: MailGatewayReading = {
  now,
  version: '9.1.0',
  certificateValidTo: null,
  status: { memory: { used: 1, total: 10 }, rootfs: { used: 1, total: 10 } },
  cluster: rows({ cid: 0, name: 'pmg1', type: '-', insync: 1 }),
  mail: answer<Row>({ count: '240', spamcount_out: '0', viruscount_out: 0 }),
  spam: answer<Row>({ count: 12 }),
  virus: answer<Row>({ count: 0 }),
  deferred: queue('3'),
  active: queue('0'),
  services: services(),
  signatures: rows(
    { name: 'main', build_time: '16 Mar 2020 23-17 +0000' },
    { name: 'daily', build_time: '20 Nov 2026 05-00 +0000' },
  ),
  rules: undefined,
  subscription: undefined,
  updates: undefined,
  tasks: undefined,
  laggingSince: null,
  days: [],
  notExamined: [],
};
const evaluate = (changes: Partial<MailGatewayReading>) => evaluateMailGateway({ ...healthy, ...changes });

it('finds no problem on a healthy server', () => {
  expect(evaluate({}).findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(evaluate({}).summary).toBe('240 mails in a day, 3 deferred');
});

describe('the rules of a mail gateway', () => {
  it.each<[what: string, changes: Partial<MailGatewayReading>, key: string, state: string | undefined]>([
    ['99 deferred mails', { deferred: queue('99') }, 'queue:deferred', 'ok'],
    ['100 deferred mails', { deferred: queue('100') }, 'queue:deferred', 'warning'],
    ['500 deferred mails', { deferred: queue('500') }, 'queue:deferred', 'critical'],
    ['50 old mails', { deferred: queue('60', '50') }, 'queue:old', 'warning'],
    ['a queue without its total', { deferred: rows() }, 'queue:deferred', 'unknown'],
    ['200 active mails', { active: queue('200') }, 'queue:active', 'warning'],
    ['a queue that is refused', { active: refused }, 'queue:active', 'unknown'],
    [
      'a filter that is down',
      { services: services(running('pmg-smtp-filter', { 'active-state': 'failed', state: 'dead' })) },
      'service:pmg-smtp-filter',
      'critical',
    ],
    [
      'a service of an old version that is down',
      { services: services({ service: 'postfix', state: 'dead' }) },
      'service:postfix',
      'critical',
    ],
    [
      'a signature updater that is down',
      { services: services(running('clamav-freshclam', { 'active-state': 'inactive' })) },
      'service:clamav-freshclam',
      'warning',
    ],
    [
      'a disabled fetchmail',
      { services: services(running('fetchmail', { 'unit-state': 'disabled', 'active-state': 'inactive' })) },
      'service:fetchmail',
      undefined,
    ],
    [
      'a finished oneshot',
      { services: services(running('pmg-hourly', { 'active-state': 'inactive', state: 'success' })) },
      'service:pmg-hourly',
      undefined,
    ],
    [
      'a failed oneshot',
      { services: services(running('pmg-daily', { 'active-state': 'failed' })) },
      'service:pmg-daily',
      'warning',
    ],
    ['a list without the required services', { services: rows(running('postfix')) }, 'services', 'unknown'],
    ['services that are refused', { services: refused }, 'services', 'unknown'],
    [
      'signatures three days old',
      { signatures: rows({ name: 'daily', build_time: '17 Nov 2026 07-00 +0000' }) },
      'signatures',
      'warning',
    ],
    [
      'signatures a week old',
      { signatures: rows({ name: 'daily', build_time: '13 Nov 2026 07-00 +0000' }) },
      'signatures',
      'critical',
    ],
    [
      'signatures without a time',
      { signatures: rows({ name: 'daily', build_time: 'yesterday' }) },
      'signatures',
      'unknown',
    ],
    ['old spam rules', { rules: rows({ channel: 'a', last_updated: now - 15 * DAY }) }, 'spam-rules', 'warning'],
    ['an unreachable node', { cluster: rows({ name: 'pmg2', conn_error: 'timeout' }) }, 'cluster:pmg2', 'critical'],
    [
      'a lagging node',
      { cluster: rows({ name: 'pmg2', insync: '0' }), laggingSince: now - 60 },
      'cluster:pmg2',
      'warning',
    ],
    [
      'a node that has lagged for 15 minutes',
      { cluster: rows({ name: 'pmg2', insync: 0 }), laggingSince: now - 900 },
      'cluster:pmg2',
      'critical',
    ],
    [
      'no mail on a gateway that never has any',
      { mail: answer<Row>({ count: 0, spamcount_out: 0, viruscount_out: 0 }) },
      'mail:flow',
      'ok',
    ],
    [
      'no mail on a gateway that usually has some',
      { mail: answer<Row>({ count: 0, spamcount_out: 0, viruscount_out: 0 }), days: [{ day: '2026-11-19', mails: 9 }] },
      'mail:flow',
      'warning',
    ],
    [
      'an outgoing virus',
      { mail: answer<Row>({ count: 9, spamcount_out: 0, viruscount_out: '1' }) },
      'mail:outgoing',
      'warning',
    ],
    [
      'more than 20 outgoing spam mails',
      { mail: answer<Row>({ count: 90, spamcount_out: 21, viruscount_out: 0 }) },
      'mail:outgoing',
      'critical',
    ],
    ['empty statistics', { mail: answer<Row>({}) }, 'mail:flow', 'unknown'],
    ['a quarantine that is refused', { spam: refused }, 'quarantine:spam', 'unknown'],
    [
      'a failed task',
      { tasks: rows({ type: 'avupdate', status: 'exit code 2', endtime: now - 60 }) },
      'tasks',
      'warning',
    ],
    [
      'a full root file system',
      { status: { memory: { used: 1, total: 10 }, rootfs: { used: '90', total: '100' } } },
      'host:root',
      'critical',
    ],
    ['an empty status', { status: {} }, 'host:memory', 'unknown'],
  ])('%s', (_, changes, key, state) => {
    expect(evaluate(changes).findings.find((finding) => finding.key === key)?.state).toBe(state);
  });
});

it.each([
  ['16 Mar 2026 23-17 +0000', Date.UTC(2026, 2, 16, 23, 17)],
  ['16 Mar 2026 23:17 +0200', Date.UTC(2026, 2, 16, 21, 17)],
  ['6 Jan 2026 00-05 -0530', Date.UTC(2026, 0, 6, 5, 35)],
])('reads the build time %s', (text, at) => {
  expect(buildTime(text)).toBe(at / 1_000);
});

it('the figures are those of the host and of its queues', () => {
  expect(evaluate({ deferred: queue('120'), active: queue('3') }).figures).toEqual({
    cpu: null,
    memory: 10,
    fullest: 10,
    waiting: 123,
  });
  expect(evaluate({ active: refused, status: { cpu: 0.5 } }).figures).toEqual({
    cpu: 50,
    memory: null,
    fullest: null,
    waiting: null,
  });
});
