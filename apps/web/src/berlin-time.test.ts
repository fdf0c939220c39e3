import { describe, expect, it } from 'vitest';
import {
  addDays,
  clockTimeAt,
  dayAt,
  daysBetween,
  enteredTimeAt,
  instantOf,
  instantsAt,
  nextMonday,
  quickTimes,
} from './berlin-time.ts';

// Berlin is two hours ahead of UTC until 25 October 2026, 03:00, then one; from 28 March 2027, 02:00, again two.

describe('the clock in Berlin', () => {
  it.each([
    ['in winter', '2026-11-20T07:30:00Z', '2026-11-20T08:30'],
    ['in summer', '2026-07-01T06:30:59.999Z', '2026-07-01T08:30'],
    ['at midnight', '2026-11-20T23:00:00Z', '2026-11-21T00:00'],
    ['before the clock goes back', '2026-10-25T00:30:00Z', '2026-10-25T02:30'],
    ['after the clock went back', '2026-10-25T01:30:00Z', '2026-10-25T02:30'],
    ['before the clock goes forward', '2027-03-28T00:59:00Z', '2027-03-28T01:59'],
    ['after the clock went forward', '2027-03-28T01:00:00Z', '2027-03-28T03:00'],
  ])('%s', (_, instant, expected) => {
    expect(clockTimeAt(instant)).toBe(expected);
    expect(dayAt(instant)).toBe(expected.slice(0, 10));
  });
});

describe('a time of the clock', () => {
  it.each([
    ['in winter', '2026-11-20T08:30', ['2026-11-20T07:30:00.000Z']],
    ['in summer', '2026-07-01T08:30', ['2026-07-01T06:30:00.000Z']],
    ['in a leap year', '2028-02-29T00:00', ['2028-02-28T23:00:00.000Z']],
    ['that comes twice', '2026-10-25T02:30', ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']],
    [
      'at the start of the hour that comes twice',
      '2026-10-25T02:00',
      ['2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z'],
    ],
    ['after the hour that comes twice', '2026-10-25T03:00', ['2026-10-25T02:00:00.000Z']],
    ['before it', '2026-10-25T01:59', ['2026-10-24T23:59:00.000Z']],
    ['that is skipped', '2027-03-28T02:30', []],
    ['at the start of the skipped hour', '2027-03-28T02:00', []],
    ['after it', '2027-03-28T03:00', ['2027-03-28T01:00:00.000Z']],
    ['that was not entered', '', []],
    ['on a day that does not exist', '2026-02-30T08:00', []],
    ['in a year of five digits', '12026-02-20T08:00', []],
  ])('%s', (_, clockTime, expected) => {
    expect(instantsAt(clockTime)).toEqual(expected);
  });

  it('is found again throughout a year', () => {
    const start = Date.parse('2026-06-01T00:00:00Z');
    for (let at = start; at < start + 365 * 86_400_000; at += 587 * 60_000) {
      expect(instantsAt(clockTimeAt(at))).toContain(new Date(at).toISOString());
    }
  });
});

describe('days', () => {
  it('are counted across months and changes of the clock', () => {
    expect(addDays('2026-10-24', 1)).toBe('2026-10-25');
    expect(addDays('2026-10-25', 1)).toBe('2026-10-26');
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  });

  it.each([
    ['2026-11-20T22:59:00Z', 0],
    ['2026-11-20T23:00:00Z', 1],
    ['2026-11-22T12:00:00Z', 2],
    ['2026-11-19T12:00:00Z', -1],
    ['2027-04-01T00:00:00Z', 132],
  ])('from 20 November 2026 to %s', (instant, days) => {
    expect(daysBetween('2026-11-20', dayAt(instant))).toBe(days);
  });

  it.each([
    ['on a Monday', '2026-11-23', '2026-11-30'],
    ['on a Friday', '2026-11-20', '2026-11-23'],
    ['on a Sunday', '2026-11-22', '2026-11-23'],
  ])('the next week %s', (_, day, expected) => {
    expect(nextMonday(day)).toBe(expected);
  });
});

describe('an entered time', () => {
  it.each([
    ['in winter', '2026-11-20T07:30:00.000Z', false],
    ['the first of two', '2026-10-25T00:30:00.000Z', false],
    ['the second of two', '2026-10-25T01:30:00.000Z', true],
  ])('%s is the instant that it came from', (_, instant, isLater) => {
    expect(enteredTimeAt(instant).isLater).toBe(isLater);
    expect(instantOf(enteredTimeAt(instant))).toBe(instant);
  });

  it('leaves out the seconds', () => {
    expect(instantOf(enteredTimeAt('2026-10-25T01:30:59.999Z'))).toBe('2026-10-25T01:30:00.000Z');
  });

  it('that comes once ignores the choice between two', () => {
    expect(instantOf({ clockTime: '2026-11-20T08:30', isLater: true })).toBe('2026-11-20T07:30:00.000Z');
  });

  it('that is skipped has no instant', () => {
    expect(instantOf({ clockTime: '2027-03-28T02:30', isLater: false })).toBeNull();
  });
});

describe('the quick choices', () => {
  const quick = (now: string) => {
    const { inAnHour, thisEvening, tomorrowMorning, nextWeek } = quickTimes(now);
    return [inAnHour, thisEvening, tomorrowMorning, nextWeek].map((time) => time && instantOf(time));
  };

  it('on a Friday', () => {
    expect(quick('2026-11-20T08:30:20Z')).toEqual([
      '2026-11-20T09:30:00.000Z',
      '2026-11-20T17:00:00.000Z',
      '2026-11-21T07:00:00.000Z',
      '2026-11-23T07:00:00.000Z',
    ]);
  });

  it('in the evening', () => {
    expect(quick('2026-11-20T17:00:00Z')[1]).toBeUndefined();
  });

  it('while the clock goes back', () => {
    expect(quick('2026-10-25T00:30:00Z')).toEqual([
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T17:00:00.000Z',
      '2026-10-26T07:00:00.000Z',
      '2026-10-26T07:00:00.000Z',
    ]);
  });
});
