import { z } from 'zod';

/** A calendar month, `2026-11`. */
export const Month = z
  .string()
  .regex(/^(?:19|20|21)\d{2}-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
  .meta({ example: '2026-11' });

/** `11/2026` */
export const monthLabel = (month: string): string => `${month.slice(5)}/${month.slice(0, 4)}`;

/** The last day of a month, `30`. */
export const lastDayOf = (month: string): string => String(daysOf(month.slice(0, 4), month.slice(5)));

/** Reads a date in a German or ISO form, with or without a time, as `2026-11-20`; null if it is not a date. */
export function parseDay(text: string): string | null {
  const german = /^(\d{1,2})[./](\d{1,2})[./](\d{4}|\d{2})(?:$|[ ,T])/.exec(text);
  const [, first = '', month = '', last = ''] = german ?? /^(\d{4})-(\d{2})-(\d{2})(?:$|[ T])/.exec(text) ?? [];
  const [day, year] = german ? [first, last.padStart(4, '20')] : [last, first];
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= daysOf(year, month);
  return isDay ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : null;
}

function daysOf(year: string, month: string): number {
  const [years, months] = [Number(year), Number(month)];
  if (months === 2) return (years % 4 === 0 && years % 100 !== 0) || years % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(months) ? 30 : 31;
}

const monthNames =
  'jan(?:uar)?|jänner|feb(?:ruar)?|februar|märz|maerz|mär|mrz|apr(?:il)?|mai|juni?|juli?|aug(?:ust)?|sept?(?:ember)?|okt(?:ober)?|nov(?:ember)?|dez(?:ember)?';
const named = new RegExp(String.raw`(?<!\p{L})(${monthNames})\.?\s+(\d{4})(?!\d)`, 'giu');
const numbered = /(?<!\d)(0?[1-9]|1[0-2])\s?[./]\s?(\d{4})(?!\d)/g;
const iso = /(?<!\d)(\d{4})-(0[1-9]|1[0-2])(?!\d)/g;
const firstLetters = ['ja,jä', 'fe', 'mä,ma,mr', 'ap', 'mai', 'jun', 'jul', 'au', 'se', 'ok', 'no', 'de'];

/** The month named in a heading; null if it names none or several. */
export function findMonth(text: string): string | null {
  const found = new Set([
    ...[...text.matchAll(numbered)].map(([, month = '', year = '']) => `${year}-${month.padStart(2, '0')}`),
    ...[...text.matchAll(iso)].map(([, year = '', month = '']) => `${year}-${month}`),
    ...[...text.matchAll(named)].map(([, name = '', year = '']) => `${year}-${monthNumber(name.toLowerCase())}`),
  ]);
  const [month, ...others] = [...found].filter((candidate) => Month.safeParse(candidate).success);
  return others.length === 0 ? (month ?? null) : null;
}

function monthNumber(name: string): string {
  // `Mai` first: `ma` also begins `Maerz`, another spelling of `März`.
  const index =
    name === 'mai'
      ? 4
      : firstLetters.findIndex((prefixes) => prefixes.split(',').some((start) => name.startsWith(start)));
  return String(index + 1).padStart(2, '0');
}
