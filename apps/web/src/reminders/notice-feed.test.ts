import { describe, expect, it } from 'vitest';
import type { ReminderNotice } from '@portal/client/interface';
import { mergeNotices, nextSince, unreadNotices } from './notice-feed.ts';

const notice = (id: string, at: string): ReminderNotice => ({
  id,
  kind: 'reminder-due',
  reminderId: `reminder of ${id}`,
  title: id,
  dueAt: at,
  at,
});

const serverTime = '2026-11-20T10:00:00.000Z';
const at = Date.parse(serverTime);
const whole = mergeNotices(undefined, {
  notices: [notice('b', '2026-11-20T09:00:00.000Z'), notice('a', '2026-11-06T10:00:30.000Z')],
  serverTime,
  at,
});
const ids = ({ notices }: { notices: ReminderNotice[] }) => notices.map(({ id }) => id);

describe('the notices', () => {
  it('grow by those of each answer, newest first, each once', () => {
    const next = mergeNotices(whole, {
      notices: [notice('c', '2026-11-20T10:00:10.000Z'), notice('b', '2026-11-20T09:00:00.000Z')],
      serverTime: '2026-11-20T10:00:29.000Z',
      at: at + 29_000,
    });
    expect(ids(next)).toEqual(['c', 'b', 'a']);
    expect(next.since).toBe('2026-11-20T10:00:29.000Z');
  });

  it('go after 14 days', () => {
    const next = mergeNotices(whole, { notices: [], serverTime: '2026-11-20T10:00:30.000Z', at });
    expect(ids(next)).toEqual(['b']);
  });

  it('that an answer with everything lacks are gone', () => {
    expect(ids(mergeNotices(undefined, { notices: [], serverTime, at }))).toEqual([]);
  });

  it('are asked for since the last answer, and from time to time all of them', () => {
    expect(nextSince(undefined, at)).toBeNull();
    expect(nextSince(whole, at + 30_000)).toBe(serverTime);
    expect(nextSince(mergeNotices(whole, { notices: [], serverTime, at: at + 300_000 }), at + 600_000)).toBeNull();
  });

  it('are all asked for if the answer names no time', () => {
    expect(nextSince(mergeNotices(undefined, { notices: [], serverTime: null, at }), at + 30_000)).toBeNull();
  });

  it('are unread if they came after the last look', () => {
    expect(unreadNotices(whole, null)).toHaveLength(2);
    expect(unreadNotices(whole, '2026-11-20T08:59:59.999Z').map(({ id }) => id)).toEqual(['b']);
    expect(unreadNotices(whole, '2026-11-20T09:00:00.000Z')).toEqual([]);
  });
});
