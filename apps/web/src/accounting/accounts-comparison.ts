import { decoded, parseCsv } from '../accounts/csv-read.ts';
import { withoutMark } from '../accounts/csv-write.ts';
import type { Known } from './account-numbers.ts';

export interface AccountDifference {
  kind: 'added' | 'changed' | 'removed';
  number: string;
  before: string | null;
  now: string | null;
}

const kinds = ['removed', 'changed', 'added'] as const;

/** What a file would change in the list, account by account: first what goes. The service counts and checks on its own. */
export function compareAccounts(bytes: Uint8Array, known: readonly Known[]): AccountDifference[] {
  const read = parseCsv(decoded(bytes));
  if ('problem' in read) return [];
  const wanted = new Map(
    read.rows
      .slice(1)
      .map(({ cells: [number = '', name = ''] }) => [number.trim(), withoutMark(name.trim().replaceAll(/\s+/gu, ' '))]),
  );
  const names = new Map(known.map(({ number, name }) => [number, name]));
  const found: AccountDifference[] = [];
  for (const [number, now] of wanted) {
    const before = names.get(number) ?? null;
    if (before !== now) found.push({ kind: before === null ? 'added' : 'changed', number, before, now });
  }
  for (const [number, before] of names)
    if (!wanted.has(number)) found.push({ kind: 'removed', number, before, now: null });
  return found.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
}
