import { describe, expect, it } from 'vitest';
import {
  addMonths,
  dayAfterKey,
  dayIn,
  daysOf,
  mondayOf,
  pageFrom,
  weekNumber,
  weeksOf,
  windowOf,
} from './calendar-days.ts';

describe('the days of a view', () => {
  it('of a month are whole weeks from Monday to Sunday', () => {
    const days = daysOf('month', '2026-11-26');
    expect([days[0], days.at(-1), days.length]).toEqual(['2026-10-26', '2026-12-06', 42]);
    // It begins on a Monday and ends on a Sunday.
    expect(daysOf('month', '2027-02-14')).toHaveLength(28);
    expect(weeksOf(days)).toHaveLength(6);
    expect(weeksOf(days)[1]?.[0]).toBe('2026-11-02');
  });

  it('of a week begin on Monday, also seen from Sunday', () => {
    expect(daysOf('week', '2026-11-29')[0]).toBe('2026-11-23');
    expect(mondayOf('2026-11-23')).toBe('2026-11-23');
  });

  it('are asked for from midnight to midnight in Berlin, on both sides of a change of the clocks', () => {
    expect(windowOf(daysOf('week', '2026-10-25'))).toEqual({
      from: '2026-10-18T22:00:00.000Z',
      to: '2026-10-25T23:00:00.000Z',
    });
  });

  it('are at most as many as the service answers', () => {
    for (const view of ['month', 'week', 'agenda'] as const) expect(daysOf(view, '2026-08-01').length).toBeLessThan(93);
  });
});

describe('weeks', () => {
  it.each([
    ['2026-11-26', 48],
    ['2026-01-01', 1],
    ['2025-12-29', 1],
    ['2026-12-31', 53],
    ['2027-01-03', 53],
    ['2027-01-04', 1],
  ])('are numbered by ISO 8601: %s is in week %i', (day, week) => expect(weekNumber(day)).toBe(week));
});

describe('paging', () => {
  it('by months stays in the month', () => {
    expect(addMonths('2026-01-31', 1)).toBe('2026-02-28');
    expect(addMonths('2026-01-31', -1)).toBe('2025-12-31');
    expect(pageFrom('week', '2026-12-30', 1)).toBe('2027-01-06');
    expect(pageFrom('agenda', '2026-12-30', -1)).toBe('2026-12-02');
  });

  it('by keys knows days, weeks and pages', () => {
    const to = (key: string) => dayAfterKey(key, '2026-11-26', (pages) => addMonths('2026-11-26', pages));
    expect(['ArrowLeft', 'ArrowDown', 'Home', 'End', 'PageDown', 'x'].map(to)).toEqual([
      '2026-11-25',
      '2026-12-03',
      '2026-11-23',
      '2026-11-29',
      '2026-12-26',
      null,
    ]);
  });
});

describe('the day of an address', () => {
  it.each([
    undefined,
    '',
    'today',
    '2026-13-01',
    '2026-02-30',
    '0000-00-00',
    '9999-12-31',
    '2026-1-1',
    '2026-11-26T00',
  ])('%s is none', (text) => expect(dayIn(text)).toBeNull());
  it('is taken as it stands', () => expect(dayIn('2028-02-29')).toBe('2028-02-29'));
});
