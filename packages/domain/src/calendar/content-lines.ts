import { DAY, SECOND } from '../time.ts';

/** A parsed line of a calendar file. Names of properties and parameters are upper case. */
export interface ContentLine {
  name: string;
  parameters: Readonly<Record<string, string>>;
  value: string;
}

/** Properties whose value is text and may contain a colon. */
const textProperties: ReadonlySet<string> = new Set(['SUMMARY', 'LOCATION', 'UID', 'STATUS', 'TZID']);

/**
 * Parses an unfolded line (RFC 5545, 3.1); null if it has no value. Outlook writes time zone names with a colon and without quotes
 * (`TZID=tzone://Microsoft/Utc`), so a value that is not text begins after the last colon.
 */
export function contentLineOf(line: string): ContentLine | null {
  const [name] = /^[A-Z0-9-]+(?=[;:])/i.exec(line) ?? [];
  if (name === undefined) return null;
  const isText = textProperties.has(name.toUpperCase());
  const colon = isText ? firstColon(line) : line.lastIndexOf(':');
  if (colon === -1) return null;
  const given = line.slice(name.length, colon).matchAll(/;([A-Z0-9-]+)=(?:"([^"]*)"|([^;]*))/gi);
  return {
    name: name.toUpperCase(),
    parameters: Object.fromEntries(
      [...given].map(([, parameter = '', quoted, plain = '']) => [parameter.toUpperCase(), (quoted ?? plain).trim()]),
    ),
    value: line.slice(colon + 1).trim(),
  };
}

/** The first colon outside quotes; if the quotes never close, the first colon of the line. */
function firstColon(line: string): number {
  const [before = ''] = /^(?:[^":]|"[^"]*")*(?=:)/.exec(line) ?? [];
  return before === '' ? line.indexOf(':') : before.length;
}

/** Text without its escapes (RFC 5545, 3.3.11). */
export const textOf = (value: string): string =>
  value.replaceAll(/\\([\\,;nN])/g, (_, escaped: string) => (/n/i.test(escaped) ? '\n' : escaped));

/** A date or a time as written; `wall` is the wall-clock time in milliseconds, as if it were UTC. */
export interface WrittenMoment {
  isDay: boolean;
  wall: number;
  isUtc: boolean;
}

const momentPattern = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/i;

/**
 * Reads a DATE or a DATE-TIME (RFC 5545, 3.3.4 and 3.3.5); null for anything else. A date needs no `VALUE=DATE`: holiday files and old
 * exports leave it out. `VALUE=DATE` turns a time into a day as well.
 */
export function writtenMoment({ parameters }: Pick<ContentLine, 'parameters'>, value: string): WrittenMoment | null {
  const [, year, month, date, hour, minute, second, z] = momentPattern.exec(value.trim()) ?? [];
  const day = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)));
  // `Date` turns 30 February into a day in March, and a year below 100 into one of the last century.
  const isDate = day.getUTCDate() === Number(date) && day.getUTCFullYear() === Number(year);
  if (!isDate || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (hour === undefined || parameters['VALUE']?.toUpperCase() === 'DATE')
    return { isDay: true, wall: day.getTime(), isUtc: false };
  // Read a leap second as the second before it (RFC 5545, 3.3.12).
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Math.min(Number(second), 59);
  return { isDay: false, wall: day.getTime() + seconds * SECOND, isUtc: z !== '' };
}

export interface WrittenDuration {
  days: number;
  /** In addition to the days. */
  ms: number;
}

const durationPattern = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;
/** Calendars do not plan further ahead, and dates have four digits for the year. */
const longestDays = 366 * 100;

/** Reads a DURATION (RFC 5545, 3.3.6); null if the value is not one. A negative duration counts as zero. */
export function durationOf(value: string): WrittenDuration | null {
  const found = durationPattern.exec(value.trim());
  if (found === null || !/\d/.test(value)) return null;
  const [weeks = 0, date = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(2).map((part) => Number(part ?? 0));
  const ms = ((hours * 60 + minutes) * 60 + seconds) * SECOND;
  const days = weeks * 7 + date;
  if (days + ms / DAY > longestDays) return null;
  return found[1] === '-' ? { days: 0, ms: 0 } : { days, ms };
}
