import { describe, expect, it } from 'vitest';
import { type FollowUp, maxFollowUps, planFollowUps } from './follow-ups.ts';
import { type GuestCache, guestKey, maxLookups, planGuestLookups } from './guest-lookups.ts';
import type { CachedAnswers } from './poll-answers.ts';
import { flagOf, isPathName, numberOf, type Row, textOf } from './rows.ts';
import { longestGap, taskEnd } from './tasks.ts';

const now = 1_795_200_000;
const DAY = 86_400;
const stopped = (vmid: number, more: Row = {}): Row => ({
  type: 'qemu',
  vmid,
  node: 'pve1',
  status: 'stopped',
  ...more,
});
const online = new Set(['pve1']);

describe('lookups of guests', () => {
  const plan = (guests: Row[], cache: GuestCache = {}, ran: string[] = []) =>
    planGuestLookups(guests, { online, cache, ran: new Set(ran), now });
  const ids = (rows: Row[]) => rows.map(({ vmid }) => vmid);

  it('continue in the next run, forty at a time', () => {
    const guests = Array.from({ length: 100 }, (_, n) => stopped(100 + n));
    const cache: GuestCache = {};
    const asked: unknown[] = [];
    for (const expected of [40, 40, 20, 0]) {
      const { ask, left } = plan(guests, cache);
      expect(ask).toHaveLength(expected);
      asked.push(...ids(ask));
      for (const row of ask) cache[guestKey(row)] = { onboot: false, readAt: now };
      expect(left).toHaveLength(100 - asked.length);
    }
    expect(new Set(asked).size).toBe(100);
    expect(maxLookups).toBe(40);
  });

  it('come in order of urgency', () => {
    const guests = [1, 2, 3, 4, 5].map((n) => stopped(n));
    const cache: GuestCache = {
      'qemu/1': { onboot: false, readAt: now - 2 * DAY },
      'qemu/2': { onboot: false, readAt: now - 3 * DAY },
      'qemu/4': { onboot: false, readAt: now - 60 },
      'qemu/5': { onboot: true, readAt: now - 3_600 },
    };
    expect(ids(plan(guests, cache, ['qemu/4']).ask)).toEqual([5, 4, 3, 2, 1]);
  });

  it.each<[string, Row]>([
    ['runs', { status: 'running' }],
    ['is a template', { template: 1 }],
    ['is locked', { lock: 'snapshot' }],
    ['belongs to HA', { hastate: 'started' }],
    ['is on an offline node', { node: 'pve3' }],
    ['has no number', { vmid: null }],
  ])('leave out a guest that %s', (_, more) => {
    expect(plan([stopped(1, more)])).toEqual({ ask: [], left: [] });
  });

  it('reach every guest even if many should run', () => {
    const guests = Array.from({ length: 60 }, (_, n) => stopped(n + 1));
    const cache: GuestCache = Object.fromEntries(
      guests.slice(0, 50).map((row) => [guestKey(row), { onboot: true, readAt: now - 3_600 }]),
    );
    for (const row of plan(guests, cache).ask) cache[guestKey(row)] = { onboot: true, readAt: now };
    expect(ids(plan(guests, cache).ask)).toContain(60);
  });
});

describe('follow-ups', () => {
  const HOUR = 3_600;
  const question = (key: string, order: number, maxAge: number): FollowUp => ({ key, order, maxAge });
  const read = (readAt: number) => ({ readAt, data: [] });

  it('come in order, ten at a time, and continue in the next run', () => {
    const questions = Array.from({ length: 25 }, (_, n) => question(`n${n}`, n < 2 ? 1 : 3, HOUR)).toReversed();
    const parts: CachedAnswers = {};
    const asked: string[] = [];
    for (const [run, expected] of [10, 10, 5, 0].entries()) {
      const ask = planFollowUps(questions, { parts, now: now + run * 300 });
      expect(ask).toHaveLength(expected);
      for (const { key } of ask) parts[key] = read(now + run * 300);
      asked.push(...ask.map(({ key }) => key));
    }
    expect(asked.slice(0, 2).toSorted()).toEqual(['n0', 'n1']);
    expect(new Set(asked).size).toBe(25);
    expect(maxFollowUps).toBe(10);
  });

  const often = [
    question('status', 1, 600),
    question('backups', 2, 900),
    question('replication', 3, 900),
    question('pools', 4, 6 * HOUR),
    question('disks', 5, 6 * HOUR),
    question('subscription', 6, 20 * HOUR),
  ];
  const cluster = Array.from({ length: 10 }, (_, n) =>
    often.map((one) => ({ ...one, key: `pve${n}:${one.key}` })),
  ).flat();
  const backup = [
    ...Array.from({ length: 10 }, (_, n) => question(`groups:${n}`, n === 0 ? 2 : 3, HOUR)),
    question('namespaces', 3, 23 * HOUR),
    question('subscription', 5, 20 * HOUR),
    question('updates', 5, 20 * HOUR),
    question('pools', 6, 6 * HOUR),
    question('disks', 6, 6 * HOUR),
    question('snapshots', 7, 20 * HOUR),
  ];
  it.each([
    ['a cluster of ten nodes, every 15 minutes', cluster, 20, 900],
    ['the same every 15 minutes, with half the questions', cluster, 10, 900],
    ['a datastore of nine namespaces, every hour', backup, 10, HOUR],
  ])('of %s are all asked before their answers expire', (_, questions, limit, everySec) => {
    const parts: CachedAnswers = {};
    for (let at = now; at < now + 5 * DAY; at += everySec) {
      for (const { key } of planFollowUps(questions, { parts, now: at, limit })) parts[key] = read(at);
      if (at > now + DAY)
        for (const { key } of questions) expect(at - (parts[key]?.readAt ?? 0), key).toBeLessThanOrEqual(DAY);
    }
  });

  it('that keep failing do not displace the others', () => {
    const questions = [
      ...Array.from({ length: 30 }, (_, n) => question(`bad${n}`, 1, 6 * HOUR)),
      question('good', 9, HOUR),
    ];
    const parts: CachedAnswers = {};
    let goodReads = 0;
    for (let at = now; at < now + DAY; at += 900)
      for (const { key } of planFollowUps(questions, { parts, now: at })) {
        if (key === 'good') goodReads += 1;
        parts[key] = key === 'good' ? read(at) : { readAt: at, failure: 'server', message: 'no' };
      }
    expect(goodReads).toBeGreaterThan(20);
  });

  it('are each asked once before any is repeated', () => {
    const parts: CachedAnswers = {};
    const asked = Array.from({ length: 6 }, (_, run) => {
      const ask = planFollowUps(cluster, { parts, now: now + run * DAY, limit: 20 });
      for (const { key } of ask) parts[key] = read(now + run * DAY);
      return ask.map(({ key }) => key);
    });
    for (const round of [asked.slice(0, 3), asked.slice(3)]) expect(new Set(round.flat()).size).toBe(cluster.length);
  });

  it('are not asked while postponed', () => {
    expect(planFollowUps([{ ...question('a', 1, HOUR), isPostponed: true }], { parts: {}, now })).toEqual([]);
  });
});

describe('reading untyped values', () => {
  it.each([
    [1, 1],
    ['0.12', 0.12],
    ['', null],
    [' ', null],
    [null, null],
    [undefined, null],
    ['NaN', null],
    [Number.NaN, null],
    [true, null],
    [{}, null],
    ['9'.repeat(50), null],
  ])('takes %j for the number %j', (value, number) => {
    expect(numberOf(value)).toBe(number);
  });
  it.each([
    [1, true],
    ['1', true],
    [true, true],
    [0, false],
    ['0', false],
    [false, false],
    [null, null],
    [undefined, null],
    ['', null],
  ])('takes %j for the flag %j', (value, flag) => {
    expect(flagOf(value)).toBe(flag);
  });
  it.each([
    ['a\u0000b\nc', 'a b c'],
    ['  ', null],
    [{}, null],
    [42, '42'],
    ['\u202eevil', 'evil'],
    ['x'.repeat(999), 'x'.repeat(200)],
  ])('takes %j for the text %j', (value, text) => {
    expect(textOf(value)).toBe(text);
  });
  it.each(['../etc', 'a/b', '', 'a b', '.', 'ä', 'x'.repeat(200)])('does not accept %j in a path', (name) => {
    expect(isPathName(name)).toBe(false);
  });
});

describe('a task', () => {
  it.each([
    [undefined, 'running'],
    ['OK', 'ok'],
    ['WARNINGS: 3', 'warning'],
    ['unexpected status', 'unknown'],
    ['unknown', 'unknown'],
    ['', 'unknown'],
    ['job errors', 'error'],
    ['interrupted by signal', 'error'],
    ['some error OK', 'error'],
  ])('with the status %j ended as %s', (status, end) => {
    expect(taskEnd(status)).toBe(end);
  });
  it.each([
    ['daily', 1],
    ['21:00', 1],
    ['*-*-* 02:00', 1],
    ['mon..fri 21:00', 3],
    ['sat 03:00', 7],
    ['mon,thu', 4],
    ['weekly', 7],
    ['monthly', 31],
    ['*-*-01 04:00', 31],
    ['yearly', 366],
    ['fri..mon', 4],
    [undefined, 1],
    ['whenever', 1],
    ['*/30', 1],
  ])('with the schedule %j runs at least every %i days', (schedule, gap) => {
    expect(longestGap(schedule)).toBe(gap * DAY);
  });
});
