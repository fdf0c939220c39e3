import { shownLine } from '../text.ts';

/** A row of an answer; the products do not keep to one type per field. */
export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Products write numbers as numbers or as text. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' && value.length < 40 ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Products write yes as true, 1, "1" or "true". Null if the value is missing. */
export function flagOf(value: unknown): boolean | null {
  if (value === undefined || value === null || value === '') return null;
  return value === true || value === 1 || value === '1' || value === 'true';
}

/** A name or a sentence on one line; null for anything else. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  return shownLine(value) || null;
}

/** Whether a name of a node or a store may be used in a path: letters, digits, `.`, `_` and `-`. */
export const isPathName = (name: string | null): name is string =>
  name !== null && /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(name);

const { compare } = new Intl.Collator('en', { numeric: true });

/** Products list rows in no fixed order; sorting makes equal answers give equal results. */
export const sortedBy = (rows: readonly Row[], field: string): Row[] =>
  rows.toSorted((a, b) => compare(String(a[field]), String(b[field])));
