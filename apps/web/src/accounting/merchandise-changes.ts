import type { MerchandisePreview } from '@portal/client/interface';
import type { PortalError } from '@portal/client/portal-error';
import { nameKey } from './account-numbers.ts';

/** A row whose account is another one than the person has seen. */
export interface ChangedRow {
  row: number;
  name: string;
  before: string | null;
  now: string | null;
}

/** A change of the account list. */
export interface ListChange {
  kind: 'ADDED' | 'CHANGED' | 'REMOVED';
  number: string;
  name: string;
}

type Numbers = Readonly<Record<string, string>>;

const accountOf = ({ accountNumber, name }: MerchandisePreview['rows'][number], assigned: Numbers): string | null =>
  accountNumber ?? (assigned[nameKey(name)] || null);

/** The rows of the same file whose account differs between two previews. An assignment counts as an account. */
export function changedRows(before: MerchandisePreview, now: MerchandisePreview, assigned: Numbers): ChangedRow[] {
  const seen = new Map(before.rows.map((row) => [row.row, row]));
  return now.rows.flatMap((row) => {
    const old = seen.get(row.row);
    if (!old) return [];
    const change = { row: row.row, name: row.name, before: accountOf(old, assigned), now: accountOf(row, assigned) };
    const isRenamed = old.name !== row.name;
    return change.before === change.now && !isRenamed && old.isNew === row.isNew ? [] : [change];
  });
}

/** What a refusal says about the list since the preview. */
export function listChanges(error: PortalError): ListChange[] {
  return error.details.flatMap(({ path, message, code }) => {
    const number = /^accounts\.(\d+)$/.exec(path)?.[1];
    const name = /^was \w+: (.*)$/.exec(message)?.[1];
    if (number === undefined || name === undefined) return [];
    return code === 'ADDED' || code === 'CHANGED' || code === 'REMOVED' ? [{ kind: code, number, name }] : [];
  });
}
