import { berlin } from '../time.ts';
import type { DeadlineKind, NoticeDeadline } from './notice-record.ts';

const dated = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+)?(Z|[+-]\d{2}:?\d{2})?$/;
const timed = /^(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/;

/** The day of `2026-12-18`, `2026-12-18+01:00` or `2026-12-18Z`: the offset says where it was written and not that it is another day. */
export function dayOf(text: string | null): string | null {
  const [, day] = dated.exec(text?.trim() ?? '') ?? [];
  return day !== undefined && zoned(day, '00:00', null) !== null ? day : null;
}

/** The first moment of a day in Berlin, ISO 8601. */
export const startOfDay = (day: string): string => zoned(day, '00:00', null) ?? `${day}T00:00:00.000Z`;

/** The last minute of a day in Berlin, ISO 8601. */
const endOfDay = (day: string): string | null => zoned(day, '23:59', null);

/**
 * A deadline out of a date and a time that may be missing. Of two offsets the time’s counts; without one it is Berlin’s time. Null where
 * the date is none. In the dialect midnight stands for "no time was given".
 */
export function deadlineOf(
  given: { date: string | null; time: string | null },
  about: { kind: DeadlineKind; lotId: string | null; isMidnightADate: boolean },
): NoticeDeadline | null {
  const { kind, lotId } = about;
  const [, day, dayOffset = null] = dated.exec(given.date?.trim() ?? '') ?? [];
  if (day === undefined) return null;
  const [, time, timeOffset = null] = timed.exec(given.time?.trim() ?? '') ?? [];
  const isDateOnly = time === undefined || (about.isMidnightADate && /^00:00(:00)?/.test(time));
  const at = isDateOnly ? endOfDay(day) : zoned(day, time, timeOffset ?? dayOffset);
  return at === null ? null : { kind, lotId, at, isDateOnly };
}

/** `10.12.2026 12:00` as German pages write it, with or without the time. */
export function germanDeadline(text: string): NoticeDeadline | null {
  const [, day = '', month = '', year, hour, minute] =
    /(?<!\d)(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[,\s]+(?:um\s+)?(\d{1,2})[:.](\d{2}))?/.exec(text) ?? [];
  if (year === undefined) return null;
  return deadlineOf(
    {
      date: `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
      time: hour === undefined ? null : `${hour.padStart(2, '0')}:${minute}`,
    },
    { kind: 'tender', lotId: null, isMidnightADate: true },
  );
}

const germanMonths = new Map([
  ['mai', 'May'],
  ['mär', 'Mar'],
  ['mrz', 'Mar'],
  ['okt', 'Oct'],
  ['dez', 'Dec'],
]);

/**
 * When something in a feed is said to have happened, ISO 8601: RFC 822 whatever weekday it names, ISO 8601, or a German date.
 * Null for what is none of these or lies outside what a database keeps.
 */
export function feedInstant(text: string | null): string | null {
  if (text === null) return null;
  const german = /^\s*\d{1,2}\.\d{1,2}\.\d{4}/.test(text) ? germanDeadline(text) : null;
  if (german) return german.isDateOnly ? startOfDay(dayInBerlin(german.at)) : german.at;
  // A weekday that does not fit the date, or is German, says nothing that counts.
  const bare = text
    .trim()
    .slice(0, 64)
    .replace(/^\p{L}+\.?,\s*/u, '')
    .replace(/\b(?:MESZ|CEST)\b/, '+0200')
    .replace(/\b(?:MEZ|CET)\b/, '+0100')
    .replace(/\p{L}{3}/gu, (month) => germanMonths.get(month.toLowerCase()) ?? month);
  const dateOnly = dayOf(bare);
  if (dateOnly !== null && bare.length <= 16) return startOfDay(dateOnly);
  const ms = Date.parse(bare);
  return ms >= Date.UTC(1990) && ms < Date.UTC(2200) ? new Date(ms).toISOString() : null;
}

/** The day an instant falls on in Berlin. */
export const dayInBerlin = (iso: string): string =>
  Temporal.Instant.from(iso).toZonedDateTimeISO(berlin).toPlainDate().toString();

function zoned(day: string, time: string, offset: string | null): string | null {
  try {
    // A year nobody means (0001, 9999) is a slip, and so is a day the month does not have.
    const year = Number(day.slice(0, 4));
    if (year < 1990 || year > 2199) return null;
    if (offset !== null)
      return Temporal.Instant.from(`${day}T${time}${offset}`).toString({ fractionalSecondDigits: 3 });
    return Temporal.PlainDateTime.from(`${day}T${time}`)
      .toZonedDateTime(berlin)
      .toInstant()
      .toString({ fractionalSecondDigits: 3 });
  } catch {
    return null;
  }
}

/**
 * The deadline that counts in a list: of each lot the one for tenders, in its absence the one for requests to participate or for
 * expressions of interest; of these the earliest still to come, or the last one when all have passed. `now` is ISO 8601, UTC.
 */
export function effectiveDeadline(deadlines: readonly NoticeDeadline[], now: string): NoticeDeadline | null {
  const counting = [...Map.groupBy(deadlines, ({ lotId }) => lotId).values()].flatMap((ofLot) => {
    const kind = (['tender', 'participation', 'interest'] as const).find((each) =>
      ofLot.some((one) => one.kind === each),
    );
    return ofLot.filter((one) => one.kind === kind);
  });
  const sorted = counting.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return sorted.find(({ at }) => at > now) ?? sorted.at(-1) ?? null;
}
