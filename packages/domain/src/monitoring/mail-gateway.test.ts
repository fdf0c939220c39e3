import { describe, expect, it } from 'vitest';
import type { Row } from './loose.ts';
import { buildTime, evaluateMailGateway, type MailGatewayReading } from './mail-gateway.ts';

const now = Date.UTC(2026, 10, 20, 8) / 1_000;
const DAY = 86_400;
const part = <T>(data: T) => ({ readAt: now, data });
const refused = { readAt: now, failure: 'rechte' as const, message: 'it said no.' };
const rows = (...list: Row[]) => part<readonly Row[]>(list);

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
  mail: part<Row>({ count: '240', spamcount_out: '0', viruscount_out: 0 }),
  spam: part<Row>({ count: 12 }),
  virus: part<Row>({ count: 0 }),
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
const look = (changes: Partial<MailGatewayReading>) => evaluateMailGateway({ ...healthy, ...changes });

it('finds nothing bad in a healthy server', () => {
  expect(look({}).findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  expect(look({}).summary).toBe('240 mails in a day, 3 deferred');
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
      'a service of old that is down',
      { services: services({ service: 'postfix', state: 'dead' }) },
      'service:postfix',
      'critical',
    ],
    [
      'signatures that are not fetched',
      { services: services(running('clamav-freshclam', { 'active-state': 'inactive' })) },
      'service:clamav-freshclam',
      'warning',
    ],
    [
      'fetchmail that is not wanted',
      { services: services(running('fetchmail', { 'unit-state': 'disabled', 'active-state': 'inactive' })) },
      'service:fetchmail',
      undefined,
    ],
    [
      'a oneshot that is through',
      { services: services(running('pmg-hourly', { 'active-state': 'inactive', state: 'success' })) },
      'service:pmg-hourly',
      undefined,
    ],
    [
      'a oneshot that failed',
      { services: services(running('pmg-daily', { 'active-state': 'failed' })) },
      'service:pmg-daily',
      'warning',
    ],
    ['a list without what is needed', { services: rows(running('postfix')) }, 'services', 'unknown'],
    ['services that are refused', { services: refused }, 'services', 'unknown'],
    [
      'signatures of three days',
      { signatures: rows({ name: 'daily', build_time: '17 Nov 2026 07-00 +0000' }) },
      'signatures',
      'warning',
    ],
    [
      'signatures of a week',
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
    ['a node that is away', { cluster: rows({ name: 'pmg2', conn_error: 'timeout' }) }, 'cluster:pmg2', 'critical'],
    [
      'a node that lags',
      { cluster: rows({ name: 'pmg2', insync: '0' }), laggingSince: now - 60 },
      'cluster:pmg2',
      'warning',
    ],
    [
      'a node that lags for long',
      { cluster: rows({ name: 'pmg2', insync: 0 }), laggingSince: now - 900 },
      'cluster:pmg2',
      'critical',
    ],
    [
      'no mail where there is none',
      { mail: part<Row>({ count: 0, spamcount_out: 0, viruscount_out: 0 }) },
      'mail:flow',
      'ok',
    ],
    [
      'no mail where there are some',
      { mail: part<Row>({ count: 0, spamcount_out: 0, viruscount_out: 0 }), days: [{ day: '2026-11-19', mails: 9 }] },
      'mail:flow',
      'warning',
    ],
    [
      'a virus that went out',
      { mail: part<Row>({ count: 9, spamcount_out: 0, viruscount_out: '1' }) },
      'mail:outgoing',
      'warning',
    ],
    [
      'spam by the dozen that went out',
      { mail: part<Row>({ count: 90, spamcount_out: 21, viruscount_out: 0 }) },
      'mail:outgoing',
      'critical',
    ],
    ['statistics that are empty', { mail: part<Row>({}) }, 'mail:flow', 'unknown'],
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
    ['a status that is empty', { status: {} }, 'host:memory', 'unknown'],
  ])('%s', (_, changes, key, state) => {
    expect(look(changes).findings.find((finding) => finding.key === key)?.state).toBe(state);
  });
});

it.each([
  ['16 Mar 2026 23-17 +0000', Date.UTC(2026, 2, 16, 23, 17)],
  ['16 Mar 2026 23:17 +0200', Date.UTC(2026, 2, 16, 21, 17)],
  ['6 Jan 2026 00-05 -0530', Date.UTC(2026, 0, 6, 5, 35)],
])('reads the time of build %s', (text, at) => {
  expect(buildTime(text)).toBe(at / 1_000);
});
