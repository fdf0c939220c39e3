import { describe, expect, it } from 'vitest';
import type { CalendarEvent } from '@portal/client/interface';
import { daysOf } from './calendar-days.ts';
import { hoursOf, rowsOfWeek, slotsOf, spansOf, spansOn } from './spans.ts';

const timed = (title: string, start: string, end: string): CalendarEvent => ({
  sourceId: 's',
  uid: title,
  title,
  start,
  end,
  allDay: false,
  location: null,
});
const whole = (title: string, start: string, end: string): CalendarEvent => ({
  ...timed(title, start, end),
  allDay: true,
});
const week = daysOf('week', '2026-11-26');
const slots = (day: string, ...events: CalendarEvent[]) =>
  slotsOf(spansOf(events), day, 5).slots.map(({ span, from, to, lane, lanes }) => [
    span.event.title,
    from,
    to,
    lane,
    lanes,
  ]);

describe('a span', () => {
  it('stands on the days of Berlin, and not on the one at whose midnight it ends', () => {
    const [late] = spansOf([timed('late', '2026-11-25T22:00:00Z', '2026-11-25T23:00:00Z')]);
    expect(late).toMatchObject({ first: '2026-11-25', last: '2026-11-25', isBar: false });
    const [fair] = spansOf([whole('fair', '2026-11-24', '2026-11-27')]);
    expect(fair).toMatchObject({ first: '2026-11-24', last: '2026-11-26', times: null });
    const [broken] = spansOf([whole('broken', '2026-11-24', '2026-11-24')]);
    expect(broken).toMatchObject({ first: '2026-11-24', last: '2026-11-24' });
  });

  it('of a night is no bar, one of more than a day is', () => {
    const [shift, trip] = spansOf([
      timed('shift', '2026-11-24T21:00:00Z', '2026-11-25T05:00:00Z'),
      timed('trip', '2026-11-25T08:00:00Z', '2026-11-27T16:00:00Z'),
    ]);
    expect([shift?.isBar, trip?.isBar]).toEqual([false, true]);
    expect(spansOn(spansOf([shift?.event ?? timed('', '', '')]), '2026-11-25')).toHaveLength(1);
  });
});

it('of more events at a time than have room counts the others', () => {
  const many = Array.from({ length: 9 }, (_, n) => timed(`${n}`, '2026-11-25T09:00:00Z', '2026-11-25T10:00:00Z'));
  const later = timed('later', '2026-11-25T12:00:00Z', '2026-11-25T13:00:00Z');
  const { slots, hidden } = slotsOf(spansOf([...many, later]), '2026-11-25', 5);
  expect([slots.length, hidden]).toEqual([6, 4]);
  expect(slots.at(-1)).toMatchObject({ lane: 0, lanes: 1 });
});

describe('the rows of a week', () => {
  it('keep a bar in its row on all its days, cut at the edges of the week', () => {
    const rows = rowsOfWeek(
      spansOf([
        timed('talk', '2026-11-25T09:00:00Z', '2026-11-25T10:00:00Z'),
        whole('fair', '2026-11-24', '2026-11-27'),
        whole('leave', '2026-11-01', '2026-12-20'),
      ]),
      week,
      3,
    );
    expect(rows[0]?.rows.map((piece) => piece?.days)).toEqual([7]);
    expect(rows[1]?.rows.map((piece) => piece?.days)).toEqual([undefined, 3]);
    expect(rows[2]?.rows.map((piece) => piece?.span.event.title)).toEqual([undefined, undefined, 'talk']);
    expect(rows.map(({ spans }) => spans.length)).toEqual([1, 2, 3, 2, 1, 1, 1]);
  });

  it('count what has no room', () => {
    const many = Array.from({ length: 5 }, (_, n) =>
      timed(`${n}`, `2026-11-25T1${n}:00:00Z`, `2026-11-25T1${n}:30:00Z`),
    );
    const [, , wednesday, thursday] = rowsOfWeek(spansOf(many), week, 3);
    expect(wednesday).toMatchObject({ hidden: 2 });
    expect(wednesday?.rows).toHaveLength(3);
    expect(thursday).toMatchObject({ hidden: 0, rows: [] });
    // The last one has as much room as their number.
    expect(rowsOfWeek(spansOf(many.slice(1)), week, 3)[2]).toMatchObject({ hidden: 0, rows: { length: 4 } });
  });
});

describe('the slots of a day', () => {
  it('stand side by side as far as they overlap', () => {
    const at = (title: string, from: string, to: string) =>
      timed(title, `2026-11-26T${from}:00+01:00`, `2026-11-26T${to}:00+01:00`);
    expect(
      slots(
        '2026-11-26',
        at('a', '09:00', '11:00'),
        at('b', '09:30', '10:00'),
        at('c', '10:00', '12:00'),
        at('d', '12:00', '13:00'),
      ),
    ).toEqual([
      ['a', 540, 660, 0, 2],
      ['b', 570, 600, 1, 2],
      ['c', 600, 720, 1, 2],
      ['d', 720, 780, 0, 1],
    ]);
  });

  it('of a night end at midnight and begin there', () => {
    const shift = timed('shift', '2026-11-25T22:00:00+01:00', '2026-11-26T06:00:00+01:00');
    expect(slots('2026-11-25', shift)).toEqual([['shift', 1320, 1440, 0, 1]]);
    expect(slots('2026-11-26', shift)).toEqual([['shift', 0, 360, 0, 1]]);
    expect(slots('2026-11-27', shift)).toEqual([]);
  });

  it('without a length are as high as their title, also before midnight', () => {
    const at = (time: string) => timed('note', `2026-11-26T${time}:00+01:00`, `2026-11-26T${time}:00+01:00`);
    expect(slots('2026-11-26', at('09:00'))).toEqual([['note', 540, 570, 0, 1]]);
    expect(slots('2026-11-26', at('23:50'))).toEqual([['note', 1410, 1440, 0, 1]]);
  });

  it('follow the clock on the days on which it is changed', () => {
    // 01:30 in standard time to 03:30 in summer time is one hour.
    expect(slots('2026-03-29', timed('spring', '2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'))).toEqual([
      ['spring', 90, 210, 0, 1],
    ]);
    // 02:45 in summer time to 02:15 in standard time is half an hour.
    expect(slots('2026-10-25', timed('autumn', '2026-10-25T00:45:00Z', '2026-10-25T01:15:00Z'))).toEqual([
      ['autumn', 165, 195, 0, 1],
    ]);
    expect(['2026-03-29', '2026-10-25', '2026-11-26'].map(hoursOf)).toEqual([23, 25, 24]);
  });
});
