import { expect, it } from 'vitest';
import { agendaOf, windowOf } from './agenda.ts';

const event = (title: string, start: string, end: string) => ({
  sourceId: 's',
  uid: title,
  title,
  start,
  end,
  allDay: start.length === 10,
  location: null,
});
const titles = (days: ReturnType<typeof agendaOf>) =>
  days.map(({ day, entries }) => [day, ...entries.map(({ event }) => event.title)]);
const window = { firstDay: '2026-11-20', days: 3, now: Date.parse('2026-11-20T08:00:00Z') };

it('groups by day in Berlin, whole days first', () => {
  const events = [
    event('late', '2026-11-20T22:30:00Z', '2026-11-20T22:45:00Z'),
    event('next day', '2026-11-20T23:30:00Z', '2026-11-21T00:30:00Z'),
    event('holiday', '2026-11-20', '2026-11-21'),
    event('after', '2026-11-23', '2026-11-24'),
  ];
  expect(titles(agendaOf(events, window))).toEqual([
    ['2026-11-20', 'holiday', 'late'],
    ['2026-11-21', 'next day'],
  ]);
});

it('leaves out what is over', () => {
  const events = [
    event('over', '2026-11-20T06:00:00Z', '2026-11-20T08:00:00Z'),
    event('moment over', '2026-11-20T06:00:00Z', '2026-11-20T06:00:00Z'),
    event('moment to come', '2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z'),
    event('under way', '2026-11-20T06:00:00Z', '2026-11-20T08:01:00Z'),
    event('yesterday', '2026-11-19', '2026-11-20'),
  ];
  expect(titles(agendaOf(events, window))).toEqual([['2026-11-20', 'under way', 'moment to come']]);
});

it('shows an event of several days on each of them', () => {
  const [first, second, third] = agendaOf(
    [event('trip', '2026-11-20T12:00:00Z', '2026-11-22T12:00:00Z')],
    window,
  ).flatMap(({ entries }) => entries);
  expect(first?.time).toEqual({ start: Date.parse('2026-11-20T12:00:00Z') });
  expect(second?.time).toBeUndefined();
  expect(third?.time).toEqual({ end: Date.parse('2026-11-22T12:00:00Z') });
});

it('lists a weekend of all-day events once per day', () => {
  expect(titles(agendaOf([event('fair', '2026-11-19', '2026-11-22')], window))).toEqual([
    ['2026-11-20', 'fair'],
    ['2026-11-21', 'fair'],
  ]);
});

it('asks for whole days, over a clock change too', () => {
  expect(windowOf(Date.parse('2026-10-24T22:30:00Z'), 1)).toEqual({
    firstDay: '2026-10-25',
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T23:00:00.000Z',
  });
});
