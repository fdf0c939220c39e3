import { describe, expect, it } from 'vitest';
import { dueLabel, NewReminder, ReminderChange, Snooze, snoozedUntil, type SnoozePreset } from './reminders.ts';

// Berlin is two hours ahead of UTC until 25 October 2026, 03:00, then one; from 28 March 2027, 02:00, again two.

describe('the label of a due time', () => {
  it.each([
    ['the same minute', '2026-11-20T08:30:00Z', '2026-11-20T08:30:00Z', 'today'],
    ['overdue since this morning', '2026-11-20T05:00:00Z', '2026-11-20T08:30:00Z', 'today'],
    ['the last minute of today', '2026-11-20T22:59:59.999Z', '2026-11-20T08:30:00Z', 'today'],
    ['midnight in Berlin, still today in UTC', '2026-11-20T23:00:00Z', '2026-11-20T08:30:00Z', 'tomorrow'],
    ['the last minute of tomorrow', '2026-11-21T22:59:59.999Z', '2026-11-20T08:30:00Z', 'tomorrow'],
    ['the day after tomorrow', '2026-11-21T23:00:00Z', '2026-11-20T08:30:00Z', null],
    ['yesterday', '2026-11-19T22:59:59Z', '2026-11-20T08:30:00Z', null],
    ['across the turn of the year', '2026-12-31T23:00:00Z', '2026-12-31T22:59:00Z', 'tomorrow'],
    ['more than 24 hours away on a day of 25', '2026-10-25T22:30:00Z', '2026-10-24T22:10:00Z', 'today'],
    ['the night the clock goes back, one minute to midnight', '2026-10-25T22:59:00Z', '2026-10-25T00:30:00Z', 'today'],
    ['the night the clock goes back, midnight', '2026-10-25T23:00:00Z', '2026-10-25T01:30:00Z', 'tomorrow'],
    ['the eve of the night the clock goes back', '2026-10-25T22:59:00Z', '2026-10-24T21:59:00Z', 'tomorrow'],
    ['less than 24 hours away over a day of 23', '2027-03-28T22:00:00Z', '2027-03-27T23:00:00Z', 'tomorrow'],
    ['a whole short day later', '2027-03-28T22:10:00Z', '2027-03-27T22:50:00Z', null],
    ['the night the clock goes forward, after the gap', '2027-03-28T01:00:00Z', '2027-03-28T00:59:00Z', 'today'],
  ])('%s', (_, dueAt, now, expected) => {
    expect(dueLabel(new Date(dueAt), new Date(now))).toBe(expected);
  });
});

describe('a snooze', () => {
  const until = (snooze: Snooze, now: string) => snoozedUntil(snooze, new Date(now)).toISOString();

  it.each<[SnoozePreset, string, string, string]>([
    ['in10min', 'keeps the seconds', '2026-11-20T08:30:12.345Z', '2026-11-20T08:40:12.345Z'],
    ['in1h', 'on an ordinary day', '2026-11-20T08:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['in1h', 'is an hour even when the clock goes back', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00.000Z'],
    ['in10min', 'is ten minutes even over the gap', '2027-03-28T00:55:00Z', '2027-03-28T01:05:00.000Z'],
    ['thisEvening', 'before six', '2026-11-20T16:59:59.999Z', '2026-11-20T17:00:00.000Z'],
    ['thisEvening', 'at six sharp is the next one', '2026-11-20T17:00:00Z', '2026-11-21T17:00:00.000Z'],
    ['thisEvening', 'late in the evening', '2026-11-20T21:00:00Z', '2026-11-21T17:00:00.000Z'],
    ['thisEvening', 'in the night the clock goes back', '2026-10-25T00:30:00Z', '2026-10-25T17:00:00.000Z'],
    ['thisEvening', 'on the eve of it', '2026-10-24T19:00:00Z', '2026-10-25T17:00:00.000Z'],
    ['thisEvening', 'in the night the clock goes forward', '2027-03-28T00:30:00Z', '2027-03-28T16:00:00.000Z'],
    ['tomorrowMorning', 'in the afternoon', '2026-11-20T13:00:00Z', '2026-11-21T07:00:00.000Z'],
    ['tomorrowMorning', 'after midnight', '2026-11-20T00:10:00Z', '2026-11-21T07:00:00.000Z'],
    ['tomorrowMorning', 'over the clock going back', '2026-10-24T10:00:00Z', '2026-10-25T07:00:00.000Z'],
    ['tomorrowMorning', 'over the clock going forward', '2027-03-27T10:00:00Z', '2027-03-28T06:00:00.000Z'],
    ['tomorrowMorning', 'out of the missing hour', '2027-03-28T01:00:00Z', '2027-03-29T06:00:00.000Z'],
    ['nextWeek', 'on a Friday', '2026-11-20T13:00:00Z', '2026-11-23T07:00:00.000Z'],
    ['nextWeek', 'on a Monday morning is a week later', '2026-11-23T06:00:00Z', '2026-11-30T07:00:00.000Z'],
    ['nextWeek', 'on a Sunday is tomorrow', '2026-11-22T13:00:00Z', '2026-11-23T07:00:00.000Z'],
    ['nextWeek', 'on Sunday in Berlin, Saturday in UTC', '2026-11-21T23:30:00Z', '2026-11-23T07:00:00.000Z'],
    ['nextWeek', 'over the clock going back', '2026-10-19T10:00:00Z', '2026-10-26T07:00:00.000Z'],
    ['nextWeek', 'over the clock going forward', '2027-03-26T10:00:00Z', '2027-03-29T06:00:00.000Z'],
  ])('%s %s', (preset, _, now, expected) => {
    expect(until({ preset }, now)).toBe(expected);
  });

  it('in minutes counts elapsed time; until a time takes that time', () => {
    expect(until({ minutes: 1 }, '2026-10-25T00:59:30Z')).toBe('2026-10-25T01:00:30.000Z');
    expect(until({ minutes: 40_320 }, '2026-10-20T10:00:00Z')).toBe('2026-11-17T10:00:00.000Z');
    expect(until({ until: new Date('2030-01-01T00:00:00Z') }, '2026-10-25T00:59:30Z')).toBe('2030-01-01T00:00:00.000Z');
  });

  it.each([
    {},
    { minutes: 0 },
    { minutes: 40_321 },
    { minutes: 1.5 },
    { minutes: null },
    { preset: 'in2h' },
    { until: 'soon' },
    { minutes: 5, preset: 'in1h' },
    { minutes: 5, until: '2030-01-01T00:00:00Z' },
  ])('is refused as %j', (input) => {
    expect(Snooze.safeParse(input).success).toBe(false);
  });
});

describe('the fields of a reminder', () => {
  const dueAt = '2030-01-01T00:00:00Z';

  it('need a title and a time; the rest is optional', () => {
    expect(NewReminder.parse({ title: '  Anrufen ', dueAt })).toEqual({
      title: 'Anrufen',
      note: null,
      dueAt: new Date(dueAt),
      emailEnabled: false,
    });
  });

  it.each([
    { title: ' ' },
    { title: 'x'.repeat(201) },
    { title: 'a\nb' },
    { note: 'x'.repeat(10_001) },
    { dueAt: 'x' },
  ])('do not accept %j', (fields) => {
    expect(NewReminder.safeParse({ title: 'x', dueAt, ...fields }).success).toBe(false);
  });

  it.each(['title', 'note', 'dueAt', 'emailEnabled'])('cannot be changed to null: %s', (field) => {
    expect(ReminderChange.safeParse({ [field]: null }).success).toBe(false);
  });
});
