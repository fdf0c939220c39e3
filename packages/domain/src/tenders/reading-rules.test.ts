import { describe, expect, it } from 'vitest';
import { cpvCode, cpvCodes } from './cpv.ts';
import { findLaender, landOfNuts, landsNamedIn, type Place } from './laender.ts';
import { centsOf } from './notice-draft.ts';
import type { NoticeDeadline } from './notice-record.ts';
import { dayOf, deadlineOf, effectiveDeadline, feedInstant, germanDeadline, startOfDay } from './notice-times.ts';
import { bundIdIn, noticeUuidIn, portalIdsIn, publicationNumber, publicationNumberIn } from './portal-ids.ts';
import { exportDays, journalDays, nextReadAt, nextTry } from './rhythm.ts';

describe('CPV codes', () => {
  it.each([
    ['45', '45000000'],
    ['452', '45200000'],
    ['90911000', '90911000'],
    ['90911000-6', '90911000'],
    [' 72000000 ', '72000000'],
    ['4', null],
    ['123456789', null],
    ['99000000', null],
    ['IT', null],
    ['', null],
  ])('%j is %j', (text, code) => expect(cpvCode(text)).toBe(code));

  it('are distinct and at most as many as allowed', () => {
    expect(cpvCodes(['45', '45000000', 'x', '72', '90'], 2)).toEqual(['45000000', '72000000']);
  });
});

describe('the Land', () => {
  const nowhere: Place = { nuts: null, postcode: null, city: null, country: null, anywhere: null };
  const at = (...places: Partial<Place>[]) =>
    findLaender(
      places.map((place) => ({ ...nowhere, ...place })),
      null,
    );

  it.each([
    ['DE2', 'BY'],
    ['DEA23', 'NW'],
    ['DEG0X', 'TH'],
    ['DEZZZ', null],
    ['DE', null],
    ['AT130', null],
  ])('of the region %s is %s', (nuts, land) => expect(landOfNuts(nuts)).toBe(land));

  it.each([
    ['Sachsen-Anhalt', ['ST']],
    ['Niedersachsen', ['NI']],
    ['Land Sachsen', ['SN']],
    ['NRW und RLP', ['NW', 'RP']],
    ['Freie Hansestadt Bremen', ['HB']],
    ['Bremerhaven', ['HB']],
    ['Brandenburg-Kirchmöser', []],
    ['Altsachsen', []],
    ['Nds.', ['NI']],
  ])('that %s names is %j', (text, laender) => expect(landsNamedIn(text)).toEqual(laender));

  it.each([
    ['a region before a name', [{ nuts: 'DE212', city: 'Berlin' }], ['BY'], 'nuts'],
    ['a name before a postcode', [{ city: 'Berlin', postcode: '80331' }], ['BE'], 'name'],
    ['a postcode', [{ postcode: '80331' }], ['BY'], 'postcode'],
    ['no Land for a postcode at a border', [{ postcode: '21000' }], [], null],
    ['a town of one Land', [{ city: 'München, Landeshauptstadt' }], ['BY'], 'city'],
    ['several regions', [{ nuts: 'DE212' }, { nuts: 'DE600' }], ['BY', 'HH'], 'nuts'],
    ['nothing abroad', [{ nuts: 'FRD22', postcode: '76000', country: 'FRA' }], [], null],
  ] as [string, Partial<Place>[], string[], string | null][])('is found by %s', (_, places, bundeslaender, source) => {
    expect(at(...places)).toEqual({ bundeslaender, source, isNationwide: false });
  });

  it('is that of the buyer if no place is given, but not if the place is abroad', () => {
    const buyer = { ...nowhere, nuts: 'DEA23' };
    expect(findLaender([], buyer)).toEqual({ bundeslaender: ['NW'], source: 'buyer', isNationwide: false });
    expect(findLaender([{ ...nowhere, nuts: 'AT130' }], buyer).bundeslaender).toEqual([]);
  });

  it.each([
    ['the country', { nuts: 'DE' }],
    ['anywhere in the country', { anywhere: 'anyw-cou', country: 'DEU' }],
    ['anywhere', { anywhere: 'anyw' }],
    ['a word for it', { city: 'bundesweit' }],
  ])('is none for work in %s, which is nationwide', (_, place) => {
    expect(at(place)).toEqual({ bundeslaender: [], source: null, isNationwide: true });
  });

  it('is found if both a region and the country are given', () => {
    expect(at({ nuts: 'DEA23' }, { nuts: 'DE' })).toMatchObject({ bundeslaender: ['NW'], isNationwide: false });
  });
});

describe('deadlines', () => {
  const about = { kind: 'tender', lotId: null, isMidnightADate: false } as const;
  const inDialect = { ...about, isMidnightADate: true };
  it.each([
    ['2026-12-18+01:00', '11:00:00+01:00', '2026-12-18T10:00:00.000Z', false],
    ['2026-12-18+01:00', '11:00:00+02:00', '2026-12-18T09:00:00.000Z', false],
    ['2026-12-18Z', '11:00:00', '2026-12-18T11:00:00.000Z', false],
    ['2026-07-18', '11:00:00', '2026-07-18T09:00:00.000Z', false],
    ['2026-12-18+01:00', null, '2026-12-18T22:59:00.000Z', true],
    ['2026-07-18+02:00', null, '2026-07-18T21:59:00.000Z', true],
    ['2026-12-18+01:00', '00:00:00+01:00', '2026-12-17T23:00:00.000Z', false],
  ])('%s %s is %s', (date, time, at, isDateOnly) => {
    expect(deadlineOf({ date, time }, about)).toMatchObject({ at, isDateOnly });
  });

  it('at midnight are a date only in the dialect, in summer and winter', () => {
    expect(deadlineOf({ date: '2026-08-13+02:00', time: '00:00:00+02:00' }, inDialect)).toMatchObject({
      at: '2026-08-13T21:59:00.000Z',
      isDateOnly: true,
    });
    expect(deadlineOf({ date: '2026-10-25', time: '00:00:00' }, inDialect)?.at).toBe('2026-10-25T22:59:00.000Z');
  });

  it.each(['2026-02-30', '0001-01-01', '9999-12-31', '18.12.2026', 'bald', '', '2026-13-01Z'])(
    '%j is not a deadline',
    (date) => {
      expect(deadlineOf({ date, time: '11:00:00' }, about)).toBeNull();
    },
  );

  it('in German format have a date and an optional time', () => {
    expect(germanDeadline('10.12.2026 12:00')).toMatchObject({ at: '2026-12-10T11:00:00.000Z', isDateOnly: false });
    expect(germanDeadline('bis 1.7.2026')).toMatchObject({ at: '2026-07-01T21:59:00.000Z', isDateOnly: true });
    expect(germanDeadline('31.02.2026')).toBeNull();
    expect(germanDeadline('in Kürze')).toBeNull();
  });

  const of = (kind: NoticeDeadline['kind'], lotId: string, day: number): NoticeDeadline => ({
    kind,
    lotId,
    at: `2026-12-${String(day).padStart(2, '0')}T10:00:00.000Z`,
    isDateOnly: false,
  });
  it.each([
    ['the earliest in the future', [of('tender', '1', 20), of('tender', '2', 15), of('tender', '3', 5)], 15],
    ['the last if all have passed', [of('tender', '1', 3), of('tender', '2', 5)], 5],
    ['for tenders before requests', [of('participation', '1', 12), of('tender', '1', 20)], 20],
    ['for requests if there is none for tenders', [of('participation', '1', 12), of('interest', '1', 11)], 12],
  ])('in effect: %s', (_, deadlines, day) => {
    expect(effectiveDeadline(deadlines, '2026-12-10T00:00:00.000Z')?.at.slice(8, 10)).toBe(
      String(day).padStart(2, '0'),
    );
  });
});

describe('times of feeds', () => {
  it.each([
    ['Thu, 19 Nov 2026 06:10:00 +0100', '2026-11-19T05:10:00.000Z'],
    ['Mon, 19 Nov 2026 06:10:00 +0100', '2026-11-19T05:10:00.000Z'],
    ['Do, 19 Nov 2026 06:10:00 MEZ', '2026-11-19T05:10:00.000Z'],
    ['19 Okt 2026 06:10:00 GMT', '2026-10-19T06:10:00.000Z'],
    ['2026-11-19T06:10:00+01:00', '2026-11-19T05:10:00.000Z'],
    ['2026-11-19', '2026-11-18T23:00:00.000Z'],
    ['19.11.2026 06:10', '2026-11-19T05:10:00.000Z'],
    ['19.11.2026', '2026-11-18T23:00:00.000Z'],
    ['gestern', null],
    ['Thu, 99 Foo 2026', null],
    ['', null],
  ])('%j is %s', (text, at) => expect(feedInstant(text)).toBe(at));

  it('are days regardless of their offset', () => {
    expect([dayOf('2026-11-19+02:00'), dayOf('2026-11-19Z'), dayOf('2026-02-30')]).toEqual([
      '2026-11-19',
      '2026-11-19',
      null,
    ]);
    expect(startOfDay('2026-07-01')).toBe('2026-06-30T22:00:00.000Z');
  });
});

describe('ids', () => {
  it.each([
    ['00373130-2026', '373130-2026'],
    ['373130-2026', '373130-2026'],
    ['00373130_2026', '373130-2026'],
    ['373130/2026', null],
    ['0b6d0000-0000-4000-8000-000000000001-01', null],
  ])('%s is the publication number %s', (text, number) => expect(publicationNumber(text)).toBe(number));

  it('are read from links', () => {
    expect(publicationNumberIn('https://ted.europa.eu/de/notice/-/detail/373130-2026')).toBe('373130-2026');
    expect(bundIdIn('https://www.service.bund.de/IMPORTE/Ausschreibungen/eva/2026/11/25601234.html')).toBe('25601234');
    expect(
      noticeUuidIn('https://oeffentlichevergabe.de/ui/de/search/details?noticeId=0B6D0000-0000-4000-8000-000000000001'),
    ).toBe('0b6d0000-0000-4000-8000-000000000001');
    expect(publicationNumberIn('https://example.org/detail/373130-2026')).toBeNull();
    for (const host of ['https://evil.example/?to=https://www.', 'https://evil-', 'https://evil.example/'])
      expect([
        publicationNumberIn(`${host}ted.europa.eu/373130-2026`),
        bundIdIn(`${host}service.bund.de/IMPORTE/Ausschreibungen/x/4711.html`),
        noticeUuidIn(`${host}oeffentlichevergabe.de/?noticeId=0b6d0000-0000-4000-8000-000000000001`),
      ]).toEqual([null, null, null]);
  });

  it.each([
    ['https://www.dtvp.de/Satellite/notice/CXP4YABCDEF', 'cosinex:CXP4YABCDEF'],
    [
      'https://x.example/NetServer/TenderingProcedureDetails?function=_Details&amp;TenderOID=54321-Tender-1',
      'netserver:54321-Tender-1',
    ],
    ['http://www.subreport.de/E49898235', 'subreport:E49898235'],
    ['https://www.evergabe-online.de/tenderdetails.html?id=123456', 'evergabe-online:123456'],
  ])('of portals: %s', (link, id) => expect(portalIdsIn([link])).toEqual([id]));
});

describe('amounts', () => {
  it.each([
    ['390697.84', 39_069_784],
    ['480000', 48_000_000],
    ['0.1', 10],
    ['-5', null],
    ['1.000,00', null],
    ['99999999999999999', null],
  ])('%s are %s cents', (text, cents) => expect(centsOf(text)).toBe(cents));
});

describe('the rhythm of sources', () => {
  const at = (iso: string) => new Date(iso);
  it.each([
    // Berlin is two hours ahead of UTC in summer and one in winter; both clocks change in between.
    ['oeffentlichevergabe', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['oeffentlichevergabe', '2026-10-25T03:00:00Z', '2026-10-25T06:00:00.000Z'],
    ['oeffentlichevergabe', '2026-11-20T02:30:00Z', '2026-11-20T06:00:00.000Z'],
    ['ted', '2026-11-20T08:00:00Z', '2026-11-20T08:30:00.000Z'],
    ['ted', '2026-11-20T12:00:00Z', '2026-11-20T15:00:00.000Z'],
    ['ted', '2026-11-20T06:30:00Z', '2026-11-20T07:30:00.000Z'],
    ['bund', '2026-11-20T06:30:00Z', '2026-11-20T07:30:00.000Z'],
    ['rss:1', '2026-11-20T06:30:00Z', '2026-11-20T07:00:00.000Z'],
  ])('%s read at %s is read next at %s', (key, now, next) => expect(nextReadAt(key, at(now)).toISOString()).toBe(next));

  it('respects the TTL of feeds, spreads it a little, and never waits longer than a day', () => {
    const now = at('2026-11-20T06:00:00Z');
    const minutes = (options: Parameters<typeof nextReadAt>[2]) =>
      (nextReadAt('rss:1', now, options).getTime() - now.getTime()) / 60_000;
    expect([minutes({ chance: 0 }), minutes({ chance: 1 })]).toEqual([27, 33]);
    expect(minutes({ ttlMs: 7_200_000 })).toBe(120);
    expect(minutes({ ttlMs: 10 ** 10 })).toBe(24 * 60);
  });

  it('doubles with each failure, and respects `Retry-After`', () => {
    const now = at('2026-11-20T12:00:00Z');
    const minutes = (key: string, options: Parameters<typeof nextTry>[2]) =>
      (nextTry(key, now, options).getTime() - now.getTime()) / 60_000;
    expect([1, 2, 3, 20].map((failures) => minutes('rss:1', { failures }))).toEqual([60, 120, 240, 24 * 60]);
    expect([1, 2, 9].map((failures) => minutes('bund', { failures }))).toEqual([10, 20, 60]);
    expect(minutes('ted', { failures: 1, retryAfterMs: 7_200_000 })).toBe(120);
  });

  it('overlaps by three days, reads missed days, and goes further back on Sundays', () => {
    expect(journalDays(null, '2026-11-20')).toEqual({ from: '2026-11-13', to: '2026-11-20' });
    expect(journalDays('2026-11-20', '2026-11-20')).toEqual({ from: '2026-11-17', to: '2026-11-20' });
    expect(journalDays('2026-11-10', '2026-11-20').from).toBe('2026-11-10');
    expect(exportDays('2026-11-19', '2026-11-20')).toEqual(['2026-11-17', '2026-11-18', '2026-11-19']);
    expect(exportDays('2026-11-10', '2026-11-20')[0]).toBe('2026-11-11');
    expect(exportDays(null, '2026-11-20')).toHaveLength(7);
    expect(exportDays('2026-11-21', '2026-11-22')).toHaveLength(14);
    expect(exportDays('2020-01-01', '2026-11-20')).toHaveLength(61);
  });
});
