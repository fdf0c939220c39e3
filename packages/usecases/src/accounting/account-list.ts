import { asc, gt, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { merchandiseAccounts, merchandiseChanges, merchandiseLists } from '@portal/db/schema/accounting/merchandise';
import { tenants } from '@portal/db/schema/tenants';
import { accountLimit, type MerchandiseAccount } from '@portal/domain/accounting/merchandise';
import type { ListedAccount } from '@portal/domain/accounting/merchandise-lines';
import { nameKey } from '@portal/domain/accounting/names';
import { conflict, type PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { portions } from '@portal/domain/portions';
import { lockTenant } from '@portal/platform/lock-tenant';

export interface AccountList {
  version: number;
  /** Sorted by number. */
  accounts: MerchandiseAccount[];
}

/** A tenant's account list and its version, read in one statement so that they match. */
export async function accountListOf(db: Pick<Tx, 'select'>): Promise<AccountList> {
  const { id, number, name } = merchandiseAccounts;
  const account = sql`json_build_object('id', ${id}, 'number', ${number}, 'name', ${name}) order by ${number}::bigint, ${number}`;
  const [list] = await db
    .select({
      version: sql<number>`coalesce((select version from ${merchandiseLists}), 0)`,
      accounts: sql<MerchandiseAccount[]>`(select coalesce(json_agg(${account}), '[]') from ${merchandiseAccounts})`,
    })
    // Row policies leave one tenant row, which exists even if the list is empty.
    .from(tenants);
  return list ?? { version: 0, accounts: [] };
}

/** The accounts that one change adds, changes and removes; a changed account keeps its id. */
export interface AccountChanges {
  added: ListedAccount[];
  changed: MerchandiseAccount[];
  removed: MerchandiseAccount[];
}

/**
 * Changes the list under its lock: `decide` gets the locked list. An empty change does not raise the version. Throws 409 `LIMIT_REACHED`;
 * violations of a unique index are passed on.
 */
export async function changeAccounts(
  tx: Tx,
  tenantId: string,
  decide: (list: AccountList) => Partial<AccountChanges> | Promise<Partial<AccountChanges>>,
): Promise<{ list: AccountList; changes: AccountChanges; addedIds: string[] }> {
  await lockTenant(tx, tenantId);
  const list = await accountListOf(tx);
  const changes = { added: [], changed: [], removed: [], ...(await decide(list)) };
  const { added, changed, removed } = changes;
  const addedIds = added.map(() => newId());
  if (added.length + changed.length + removed.length === 0) return { list, changes, addedIds };
  if (list.accounts.length + added.length - removed.length > accountLimit)
    throw conflict('LIMIT_REACHED', `An account list can have at most ${accountLimit} accounts.`);

  // Changed accounts are deleted and inserted again, because two accounts may swap their names.
  const deletedIds = [...changed, ...removed].map(({ id }) => id);
  for (const ids of portions(deletedIds))
    await tx.delete(merchandiseAccounts).where(inArray(merchandiseAccounts.id, ids));
  const rows = [...added.map((account, index) => ({ ...account, id: addedIds[index] ?? newId() })), ...changed];
  for (const portion of portions(rows))
    await tx
      .insert(merchandiseAccounts)
      .values(portion.map(({ id, number, name }) => ({ id, tenantId, number, name, nameKey: nameKey(name) })));

  const version = list.version + 1;
  await tx
    .insert(merchandiseLists)
    .values({ id: newId(), tenantId, version })
    .onConflictDoUpdate({ target: merchandiseLists.tenantId, set: { version } });
  const kinds = { added, changed, removed };
  const history = (Object.keys(kinds) as (keyof AccountChanges)[]).flatMap((kind) =>
    kinds[kind].map(({ number, name }) => ({ id: newId(), tenantId, version, kind, number, name })),
  );
  for (const portion of portions(history)) await tx.insert(merchandiseChanges).values(portion);
  return { list: { ...list, version }, changes, addedIds };
}

/** 409 `ACCOUNTS_STALE` for a caller that has seen an older version; the details list the changes since then. */
export async function staleError(db: Pick<Tx, 'select'>, seen: number, version: number): Promise<PortalError> {
  const { kind, number, name } = merchandiseChanges;
  const changes = await db
    .select({ kind, number, name })
    .from(merchandiseChanges)
    .where(gt(merchandiseChanges.version, seen))
    .orderBy(asc(merchandiseChanges.version), asc(merchandiseChanges.id))
    .limit(100);
  return conflict('ACCOUNTS_STALE', undefined, {
    details: [
      { path: 'accountsVersion', message: `is now ${version}` },
      ...changes.map((change) => ({
        path: `accounts.${change.number}`,
        message: `was ${change.kind}: ${change.name}`,
        code: change.kind.toUpperCase(),
      })),
    ],
  });
}
