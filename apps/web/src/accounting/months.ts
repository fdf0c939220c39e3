import { dayAt } from '../berlin-time.ts';
import { language } from '../language.ts';

const pastMonths = 18;

export const isMonth = (text: string | undefined): text is string =>
  /^(?:19|20|21)\d{2}-(?:0[1-9]|1[0-2])$/.test(text ?? '');

/** The month before or after: `2026-11`, -1 → `2026-10`. */
export function monthBeside(month: string, step: number): string {
  const count = Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1 + step;
  return `${Math.floor(count / 12)}-${String((count % 12) + 1).padStart(2, '0')}`;
}

/** Most people settle the month that has just ended. */
export const lastMonth = (): string => monthBeside(dayAt(Date.now()).slice(0, 7), -1);

const names = {
  de: new Intl.DateTimeFormat('de-DE', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
  en: new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }),
};

/** “November 2026” */
export const monthName = (month: string): string => names[language.value].format(new Date(`${month}-01T00:00:00Z`));

/** The months to choose from, the newest first. `chosen` is among them. */
export function monthOptions(chosen: string | null): { value: string; label: string }[] {
  const newest = monthBeside(lastMonth(), 2);
  const months = Array.from({ length: pastMonths }, (_, index) => monthBeside(newest, -index));
  const all = chosen === null || months.includes(chosen) ? months : [...months, chosen];
  return all.map((value) => ({ value, label: monthName(value) }));
}
