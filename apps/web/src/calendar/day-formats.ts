import { language } from '../language.ts';

// Days have no time zone, so they are formatted in UTC.
const formats = new Map<string, Intl.DateTimeFormat>();

function format(name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language.value} ${name}`;
  const known = formats.get(key);
  if (known) return known;
  const locale = language.value === 'de' ? 'de-DE' : 'en-GB';
  const made = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
  formats.set(key, made);
  return made;
}

const at = (day: string) => new Date(`${day}T12:00:00Z`);
const long = { year: 'numeric', month: 'long', day: 'numeric' } as const;

/** Such as “November 2026”. */
export const monthName = (day: string): string => format('month', { year: 'numeric', month: 'long' }).format(at(day));

/** Such as “Mo”. */
export const shortWeekday = (day: string): string => format('weekday', { weekday: 'short' }).format(at(day));

/** Such as “Montag, 23. November 2026”. */
export const fullDay = (day: string): string => format('full', { weekday: 'long', ...long }).format(at(day));

/** Such as “23.–29. November 2026”. */
export const dayRange = (from: string, to: string): string => format('range', long).formatRange(at(from), at(to));

/** With the weekdays, such as “Montag, 23. – Mittwoch, 25. November 2026”. */
export const fullRange = (from: string, to: string): string =>
  from === to ? fullDay(from) : format('full', { weekday: 'long', ...long }).formatRange(at(from), at(to));

export const dayNumber = (day: string): string => String(Number(day.slice(8)));
