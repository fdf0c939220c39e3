import { DAY, SECOND } from '../time.ts';

/** A line of a calendar file, taken apart. Names are upper case, those of parameters too. */
export interface ContentLine {
  name: string;
  parameters: Readonly<Record<string, string>>;
  value: string;
}

/** Properties that are text, which may hold a colon. */
const texts: ReadonlySet<string> = new Set(['SUMMARY', 'LOCATION', 'UID', 'STATUS', 'TZID']);

/**
 * Takes an unfolded line apart (RFC 5545, 3.1); null where it has no value. Outlook writes names of time zones with a colon and
 * without quotes (`TZID=tzone://Microsoft/Utc`), so a value that is no text begins behind the last colon.
 */
export function contentLineOf(line: string): ContentLine | null {
  const [name] = /^[A-Z0-9-]+(?=[;:])/i.exec(line) ?? [];
  if (name === undefined) return null;
  const isText = texts.has(name.toUpperCase());
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

/** The first colon that stands in no quotes; the first of all where quotes do not end. */
function firstColon(line: string): number {
  const [before = ''] = /^(?:[^":]|"[^"]*")*(?=:)/.exec(line) ?? [];
  return before === '' ? line.indexOf(':') : before.length;
}

/** Text without its escapes (RFC 5545, 3.3.11). */
export const textOf = (value: string): string =>
  value.replaceAll(/\\([\\,;nN])/g, (_, escaped: string) => (/n/i.test(escaped) ? '\n' : escaped));

/** A date or a time as it is written; `wall` is in milliseconds, as if the clock were that of UTC. */
export interface WrittenMoment {
  isDay: boolean;
  wall: number;
  isUtc: boolean;
}

const written = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/i;

/**
 * Reads a DATE or a DATE-TIME (RFC 5545, 3.3.4 and 3.3.5); null for what is neither. A date needs no `VALUE=DATE`: holiday files and old
 * exports leave it out. With it, a time is a day as well.
 */
export function writtenMoment({ parameters }: Pick<ContentLine, 'parameters'>, value: string): WrittenMoment | null {
  const [, year, month, date, hour, minute, second, z] = written.exec(value.trim()) ?? [];
  const day = new Date(Date.UTC(Number(year), Number(month) - 1, Number(date)));
  // The 30th of February would be a day of March, and a year of two digits one of the last century.
  const isDate = day.getUTCDate() === Number(date) && day.getUTCFullYear() === Number(year);
  if (!isDate || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (hour === undefined || parameters['VALUE']?.toUpperCase() === 'DATE')
    return { isDay: true, wall: day.getTime(), isUtc: false };
  // A second that is put in is the one before it (RFC 5545, 3.3.12).
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Math.min(Number(second), 59);
  return { isDay: false, wall: day.getTime() + seconds * SECOND, isUtc: z !== '' };
}

export interface WrittenDuration {
  days: number;
  /** Besides the days. */
  ms: number;
}

const lasting = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;
/** Nobody plans further, and dates have four digits for the year. */
const longestDays = 366 * 100;

/** Reads a DURATION (RFC 5545, 3.3.6); null for what is none. One that leads backwards takes no time. */
export function durationOf(value: string): WrittenDuration | null {
  const found = lasting.exec(value.trim());
  if (found === null || !/\d/.test(value)) return null;
  const [weeks = 0, date = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(2).map((part) => Number(part ?? 0));
  const ms = ((hours * 60 + minutes) * 60 + seconds) * SECOND;
  const days = weeks * 7 + date;
  if (days + ms / DAY > longestDays) return null;
  return found[1] === '-' ? { days: 0, ms: 0 } : { days, ms };
}
