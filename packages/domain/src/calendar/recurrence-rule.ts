import type { CalendarFindingCode } from './findings.ts';

export const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as const;
const frequencies = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const;

const skips = ['OMIT', 'BACKWARD', 'FORWARD'] as const;

/** Parts that are lists of numbers: the allowed range, and whether negative numbers count from the end. */
const numberParts = {
  BYMONTH: { min: 1, max: 12, isSigned: false },
  BYWEEKNO: { min: 1, max: 53, isSigned: true },
  BYYEARDAY: { min: 1, max: 366, isSigned: true },
  BYMONTHDAY: { min: 1, max: 31, isSigned: true },
  BYHOUR: { min: 0, max: 23, isSigned: false },
  BYMINUTE: { min: 0, max: 59, isSigned: false },
  BYSECOND: { min: 0, max: 60, isSigned: false },
  BYSETPOS: { min: 1, max: 366, isSigned: true },
};
type NumberPart = keyof typeof numberParts;

const timeParts: ReadonlySet<NumberPart> = new Set(['BYHOUR', 'BYMINUTE', 'BYSECOND']);
export const timeFrequencies: ReadonlySet<string> = new Set(['HOURLY', 'MINUTELY', 'SECONDLY']);

export interface RecurrenceRule {
  freq: (typeof frequencies)[number];
  interval: number;
  count: number | null;
  /** As written. */
  until: string | null;
  wkst: string;
  /** How to treat a day that its month or year does not have. */
  skip: (typeof skips)[number];
  /** Such as `MO` or `-1FR`. */
  byDay: string[] | null;
  by: Partial<Record<NumberPart, number[]>>;
}

/**
 * Reads a recurrence rule (RFC 5545, 3.3.10), or returns the finding why it cannot. Ignores blanks and parts without a value, which
 * real files contain. Ignores parts the standard does not know, as it requires, and times of day in a series of days. Supports only
 * GREGORIAN of the scales of RFC 7529, and SKIP with or without RSCALE.
 */
export function recurrenceRuleOf(value: string, isOfDays: boolean): RecurrenceRule | CalendarFindingCode {
  const parts = new Map(
    value
      .replaceAll(/\s/g, '')
      .toUpperCase()
      .split(';')
      .map((part) => part.split('=', 2) as [string, string?])
      .filter((part): part is [string, string] => Boolean(part[1])),
  );
  const freq = frequencies.find((one) => one === parts.get('FREQ'));
  const interval = Number(parts.get('INTERVAL') ?? 1);
  const count = parts.has('COUNT') ? Number(parts.get('COUNT')) : null;
  const skip = skips.find((one) => one === (parts.get('SKIP') ?? 'OMIT'));
  const wkst = parts.get('WKST') ?? 'MO';
  const byDay = listOf(parts.get('BYDAY'));
  const isWhole = [interval, count ?? 1].every((number) => Number.isSafeInteger(number) && number > 0);
  const areDays = [wkst, ...(byDay ?? [])].every((day) => /^(?:[+-]?\d{1,2})?(?:SU|MO|TU|WE|TH|FR|SA)$/.test(day));
  const by: RecurrenceRule['by'] = {};
  for (const part of Object.keys(numberParts) as NumberPart[]) {
    const numbers = listOf(parts.get(part))?.map((number) => (/^[+-]?\d+$/.test(number) ? Number(number) : Number.NaN));
    if (numbers?.some((number) => !isWithin(part, number))) return 'RULE_UNREADABLE';
    if (numbers && !(isOfDays && timeParts.has(part))) by[part] = numbers;
  }
  if ((parts.get('RSCALE') ?? 'GREGORIAN') !== 'GREGORIAN') return 'SCALE_UNKNOWN';
  if (freq === undefined || skip === undefined || (isOfDays && timeFrequencies.has(freq)) || !isWhole || !areDays)
    return 'RULE_UNREADABLE';
  return { freq, interval, count, until: parts.get('UNTIL') ?? null, wkst, skip, byDay, by };
}

function isWithin(part: NumberPart, number: number): boolean {
  const { min, max, isSigned } = numberParts[part];
  const size = isSigned ? Math.abs(number) : number;
  return size >= min && size <= max;
}

const listOf = (value: string | undefined): string[] | null => value?.split(',').filter(Boolean) ?? null;
