import { shownLine } from '../text.ts';

/** A row of an answer, as loosely typed as the products write it. */
export type Row = Readonly<Record<string, unknown>>;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Numbers come as numbers or as text. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' && value.length < 40 ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** Yes comes as true, 1 and "1"; null where nothing is said. */
export function flagOf(value: unknown): boolean | null {
  if (value === undefined || value === null || value === '') return null;
  return value === true || value === 1 || value === '1' || value === 'true';
}

/** A name or a sentence; null for what is none. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  return shownLine(value) || null;
}

/** A name that may stand in a path: those of nodes and stores are letters, digits and a few signs. */
export const isPathName = (name: string | null): name is string =>
  name !== null && /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(name);

const { compare } = new Intl.Collator('en', { numeric: true });

/** Lists come in no order; sorted by a field, so that equal answers stay equal. */
export const sortedBy = (rows: readonly Row[], field: string): Row[] =>
  rows.toSorted((a, b) => compare(String(a[field]), String(b[field])));
