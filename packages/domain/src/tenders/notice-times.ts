import { berlin } from '../time.ts';
import type { DeadlineKind, NoticeDeadline } from './notice-record.ts';

const dated = /^(\d{4}-\d{2}-\d{2})(?:T[\d:.]+)?(Z|[+-]\d{2}:?\d{2})?$/;
const timed = /^(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?$/;

/** The day of `2026-12-18`, `2026-12-18+01:00` or `2026-12-18Z`. The offset is ignored: it never means another day. */
export function dayOf(text: string | null): string | null {
  const [, day] = dated.exec(text?.trim() ?? '') ?? [];
  return day !== undefined && zoned(day, '00:00', null) !== null ? day : null;
}

/** The first moment of a day in Berlin, ISO 8601. */
export const startOfDay = (day: string): string => zoned(day, '00:00', null) ?? `${day}T00:00:00.000Z`;

/** The last minute of a day in Berlin, ISO 8601. */
const endOfDay = (day: string): string | null => zoned(day, '23:59', null);

/**
 * A deadline from a date and an optional time. If both have an offset, that of the time counts; without an offset it is Berlin time. Null
 * if the date is invalid. In the dialect, midnight means that there is no time.
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

/** Parses the German format `10.12.2026 12:00`, with or without the time. */
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
 * A date of a feed as ISO 8601: reads RFC 822 (ignoring the weekday), ISO 8601, or a German date. Null for other text and for years outside
 * 1990 to 2199.
 */
export function feedInstant(text: string | null): string | null {
  if (text === null) return null;
  const german = /^\s*\d{1,2}\.\d{1,2}\.\d{4}/.test(text) ? germanDeadline(text) : null;
  if (german) return german.isDateOnly ? startOfDay(dayInBerlin(german.at)) : german.at;
  // Drop the weekday: it can be wrong or German.
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
    // An implausible year (0001, 9999) is an error, like a day that does not exist in the month.
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
 * The deadline that a list shows. For each lot it is the one for tenders, else for requests to participate, else for expressions of
 * interest. Of these, the earliest in the future counts, or the last one if all have passed. `now` is ISO 8601, UTC.
 */
export function effectiveDeadline(deadlines: readonly NoticeDeadline[], now: string): NoticeDeadline | null {
  const relevant = [...Map.groupBy(deadlines, ({ lotId }) => lotId).values()].flatMap((ofLot) => {
    const kind = (['tender', 'participation', 'interest'] as const).find((each) =>
      ofLot.some((one) => one.kind === each),
    );
    return ofLot.filter((one) => one.kind === kind);
  });
  const sorted = relevant.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return sorted.find(({ at }) => at > now) ?? sorted.at(-1) ?? null;
}
