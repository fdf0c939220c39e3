import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shown } from './moment.ts';
import { maxOccurrences, occurrencesBetween } from './occurrences.ts';

/** A calendar and its occurrences, found by an independent library, or by hand if no library is right. */
interface Series {
  name: string;
  by: 'recurring-ical-events' | 'dateutil' | 'hand';
  /** Why no library is right, or what the standard leaves undefined. */
  note?: string;
  from: string;
  to: string;
  ics: string[];
  occurrences: [start: string, end: string, title: string][];
}

const series = JSON.parse(readFileSync(new URL('fixtures/series.json', import.meta.url), 'utf8')) as Series[];

const autumn = { from: '2026-11-16T00:00:00Z', to: '2027-02-10T00:00:00Z' };

function read(
  lines: string[] | string | Uint8Array,
  { from, to }: { from: string; to: string } = autumn,
  isLate = () => false,
) {
  const file =
    lines instanceof Uint8Array ? lines : Buffer.from(typeof lines === 'string' ? lines : lines.join('\r\n'));
  const window = { from: Date.parse(from), to: Date.parse(to) };
  const { occurrences, ...state } = occurrencesBetween(file, window, isLate);
  return { ...state, found: occurrences.map(({ start, end, title }) => [shown(start), shown(end), title] as const) };
}

const calendar = (...events: string[]) => ['BEGIN:VCALENDAR', ...events, 'END:VCALENDAR', ''].join('\r\n');
const event = (uid: string | number, ...lines: string[]) =>
  ['BEGIN:VEVENT', `UID:${uid}`, 'SUMMARY:T', ...lines, 'END:VEVENT'].join('\r\n');
const times = (count: number, make: (n: number) => string) => Array.from({ length: count }, (_, n) => make(n));

describe.each(['UTC', 'Europe/Berlin', 'America/New_York'])('where the process is in %s', (zone) => {
  const before = process.env['TZ'];
  beforeAll(() => {
    process.env['TZ'] = zone;
  });
  afterAll(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });

  it('is the zone of the process', () => {
    expect(new Date(2026, 6, 1).toISOString()).toBe(
      { UTC: '2026-07-01T00:00:00.000Z', 'Europe/Berlin': '2026-06-30T22:00:00.000Z' }[zone] ??
        '2026-07-01T04:00:00.000Z',
    );
  });

  it.each(series.map((one) => [one.name, one] as const))('%s', (_name, { ics, occurrences, ...window }) => {
    expect(read(ics, window)).toMatchObject({ isWhole: true, found: expect.toSatisfy(sameAs(occurrences)) });
  });
});

/** Sorted, because occurrences with the same start may come in any order. */
const sameAs = (expected: Series['occurrences']) => (found: Series['occurrences']) => {
  expect(found.toSorted()).toEqual(expected.toSorted());
  return true;
};

it('contains enough series, nearly all checked by an independent library, and a reason for each other one', () => {
  const byHand = series.filter(({ by }) => by === 'hand');
  expect(series.length).toBeGreaterThanOrEqual(60);
  expect(byHand.length).toBeLessThan(series.length / 8);
  expect(byHand.filter(({ note }) => !note)).toEqual([]);
});

it('a series of Exchange keeps its hour across the end of summer time', () => {
  const exchange = series.find(({ name }) => name === 'Exchange over the end of October');
  const found = read(exchange?.ics ?? [], { from: '2026-10-01T00:00:00Z', to: '2026-12-01T00:00:00Z' }).found;
  const inBerlin = new Intl.DateTimeFormat('de-DE', {
    timeZone: 'Europe/Berlin',
    dateStyle: 'short',
    timeStyle: 'short',
  });
  expect(found.map(([start]) => inBerlin.format(new Date(start)))).toEqual([
    '20.10.26, 14:00',
    // Moved by two hours; the one of 3 November is an EXDATE.
    '27.10.26, 16:00',
    '10.11.26, 14:00',
  ]);
});

describe('a file with odd formatting', () => {
  const at = 'DTSTART:20261120T090000Z';
  const single = ['2026-11-20T09:00:00.000Z', '2026-11-20T09:00:00.000Z', 'T'];

  it('is read with bare line feeds, folded lines, small letters and a byte order mark', () => {
    const text = `\uFEFF${calendar(event(1, 'DTSTART:20261120\r\n T0900\r\n\t00Z'))}`.replaceAll('\r\n', '\n');
    expect(read(text).found).toEqual([single]);
    expect(read(calendar(event(1, at)).replace('BEGIN:VEVENT', 'begin:vevent')).found).toEqual([single]);
  });

  it.each([
    ['CRLF and a blank', '\r\n '],
    ['CRLF and a tab', '\r\n\t'],
    ['LF and a blank', '\n '],
    ['LF and a tab', '\n\t'],
    ['CR and a blank', '\r '],
    ['CR and a tab', '\r\t'],
    ['a CRLF with an extra CR, and a blank', '\r\r\n '],
  ])('is read if a line is folded inside a character, by %s', (_name, fold) => {
    const title = 'Jörg – Übergabe 🙂';
    const lineEnd = fold.slice(0, -1);
    const text = calendar(event(1, at).replace('SUMMARY:T', 'SUMMARY:#')).replaceAll('\r\n', lineEnd);
    // Each octet of the title on a line of its own.
    const octets = Buffer.from(title).toString('latin1');
    const folded = Buffer.from(
      text.replace('#', () => [...octets].join(fold)),
      'latin1',
    );
    expect(read(folded).found).toEqual([[single[0], single[1], title]]);
    expect(read(Buffer.concat([Buffer.from('\uFEFF'), folded])).found).toEqual([[single[0], single[1], title]]);
  });

  it('is read with a byte order mark before the event itself', () => {
    expect(read(`\uFEFF${event(1, at)}`).found).toEqual([single]);
  });

  it('shortens titles to one line of limited length', () => {
    const [script, lines, long] = [
      '<script>alert(1)</script>',
      'one\\n\\ntwo\\, three\u0007',
      `${'🙂'.repeat(150)}${'x'.repeat(10_000)}`,
    ].map((title) => read(calendar(`BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:${title}\r\n${at}\r\nEND:VEVENT`)).found[0]?.[2]);
    expect(script).toBe('<script>alert(1)</script>');
    expect(lines).toBe('one two, three');
    expect(Array.from(long ?? '')).toHaveLength(200);
  });

  it('ignores alarms inside an event', () => {
    const alarm = 'BEGIN:VALARM\r\nSUMMARY:Alarm\r\nDURATION:P9D\r\nTRIGGER:-PT15M\r\nEND:VALARM';
    expect(read(calendar(event(1, alarm, at))).found).toEqual([single]);
  });

  it('leaves out unreadable events and no others', () => {
    const broken = [
      'DTSTART:2026ABCD',
      'DTSTART;VALUE=DATE:20260230',
      'DTSTART:20261120T990000Z',
      'DTSTART;VALUE=DATE:00000000',
      'SUMMARY:No start',
    ];
    expect(read(calendar(...broken.map((line, n) => event(n, line)), event('good', at)))).toMatchObject({
      isWhole: true,
      found: [single],
      findings: { count: broken.length },
    });
  });

  it('shows an event in spite of a wrong exception or an unreadable rule', () => {
    expect(read(calendar(event(1, at, 'RRULE:FREQ=DAILY;COUNT=2', 'EXDATE:rubbish,20261121T090000Z'))).found).toEqual([
      single,
    ]);
    const rules = ['RUBBISH', 'FREQ=NEVER', 'FREQ=DAILY;INTERVAL=0;COUNT=1', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'];
    for (const rule of rules) expect(read(calendar(event(1, at, `RRULE:${rule}`))).found).toEqual([single]);
  });

  it('reads an unknown time zone of any length as Berlin', () => {
    const named = (name: string) => read(calendar(event(1, `DTSTART;TZID="${name}":20261120T090000`))).found[0]?.[0];
    for (const name of ['Z'.repeat(10_000), '../../etc/passwd', '+01:00', '%', '']) {
      expect(named(name)).toBe('2026-11-20T08:00:00.000Z');
    }
  });
});

describe('a source above the limits', () => {
  const everySecond = 'RRULE:FREQ=SECONDLY';

  it('ends at the limit: a rule for every second, and for every second of every day', () => {
    const start = 'DTSTART:20000101T000000Z';
    const { found, isWhole } = read(calendar(event(1, start, everySecond)));
    expect([found.length, found[0]?.[0], found.at(-1)?.[0], isWhole]).toEqual([
      maxOccurrences,
      '2026-11-16T00:00:00.000Z',
      '2026-11-16T00:33:19.000Z',
      false,
    ]);
    const all = (count: number) => times(count, String).join(',');
    const dense = `RRULE:FREQ=DAILY;BYHOUR=${all(24)};BYMINUTE=${all(60)};BYSECOND=${all(60)}`;
    expect(read(calendar(event(1, start, dense))).found).toEqual([]);
    expect(read(calendar(event(1, start, 'RRULE:FREQ=SECONDLY;COUNT=1000000000'))).found).toEqual([]);
  });

  it('shows the earliest events, independent of their order in the file', () => {
    const far = times(2_500, (n) => event(`far ${n}`, 'DTSTART:20270101T090000Z'));
    const { found, isWhole } = read(calendar(...far, event('near', 'DTSTART:20261120T090000Z')));
    expect([found.length, found[0]?.[0], isWhole]).toEqual([maxOccurrences, '2026-11-20T09:00:00.000Z', false]);
  });

  it('has at most 20,000 events', () => {
    const past = (count: number) => times(count, (n) => event(n, 'DTSTART:20200101T090000Z'));
    expect(read(calendar(...past(20_000)))).toMatchObject({ isWhole: true, isLate: false, found: [] });
    expect(read(calendar(...past(20_001)))).toMatchObject({
      isWhole: false,
      isLate: false,
      findings: { count: 1, lines: [{ line: 100_002, code: 'EVENT_BEYOND' }] },
    });
  });

  it('reads 128 KiB of an event, and reports a longer one', () => {
    const long = event(
      1,
      'DTSTART:20261120T090000Z',
      'RRULE:FREQ=DAILY;COUNT=3',
      `EXDATE:${'20261121T090000Z,'.repeat(8_000)}`,
    );
    expect(read(calendar(long))).toMatchObject({
      found: { length: 3 },
      findings: { count: 1, lines: [{ line: 2, code: 'EVENT_TOO_LONG' }] },
    });
  });

  it.each([
    ['endless folding', () => event(1, `DTSTART:20261120T090000Z\r\nDESCRIPTION:${'x\r\n '.repeat(2_000_000)}`), 1],
    ['endless folding by CR', () => event(1, `DTSTART:20261120T090000Z\r\nDESCRIPTION:${'x\r '.repeat(3_000_000)}`), 1],
    ['line ends alone', () => event(1, `DTSTART:20261120T090000Z${'\r'.repeat(9_000_000)}`), 1],
    ['a million properties', () => event(1, `DTSTART:20261120T090000Z\r\n${'X-A:1\r\n'.repeat(1_000_000)}`), 1],
    [
      'a million exceptions',
      () => event(1, 'DTSTART:20261120T090000Z', 'RRULE:FREQ=DAILY', 'EXDATE:20261121T090000Z\r\n'.repeat(400_000)),
      81,
    ],
    [
      'events without an end',
      () => 'BEGIN:VEVENT\r\nDTSTART:20261120T090000Z\r\n'.repeat(20_000),
      maxOccurrences,
      false,
    ],
    [
      'a zone that changes every second',
      () =>
        `BEGIN:VTIMEZONE\r\nTZID:Q\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0900\r\nRRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n${event(1, 'DTSTART;TZID=Q:20261120T090000')}`,
      1,
    ],
    [
      'a zone that changes every day of a year',
      () =>
        `BEGIN:VTIMEZONE\r\nTZID:Q\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0900\r\nRRULE:FREQ=YEARLY;BYYEARDAY=${times(366, (n) => String(n + 1)).join(',')}\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n${event(1, 'DTSTART;TZID=Q:20261120T090000')}`,
      1,
    ],
  ])('is read in acceptable time: %s', (_name, make, count, isAll = true) => {
    const text = calendar(make());
    const before = process.cpuUsage();
    const { found, isWhole } = read(text);
    const { user } = process.cpuUsage(before);
    expect([found.length, isWhole]).toEqual([count, isAll]);
    expect(user / 1_000).toBeLessThan(5_000);
  });

  it('is given up when the time is used up', () => {
    const rules = times(500, (n) => event(n, 'DTSTART:20000101T000000Z', everySecond));
    let asked = 0;
    const { found, isWhole, isLate } = read(calendar(...rules), autumn, () => (asked += 1) > 10);
    expect([found.length, isWhole, isLate]).toEqual([maxOccurrences, false, true]);
  });
});
