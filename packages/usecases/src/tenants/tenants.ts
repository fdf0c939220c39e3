import { asc, count, eq, sql } from 'drizzle-orm';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { Tenant } from '@portal/domain/tenants/tenants';
import type { UserContext } from '@portal/platform/context';
import { checkSuperAdminRemains } from '../accounts/administer.ts';
import { deleteAccountsOf, deleteInactiveAccounts, hasActiveAccount } from '../accounts/users.ts';
import { recordAudit } from './audit.ts';

/** Lists all tenants by name, each with its number of accounts. */
export const listTenants = (ctx: UserContext): Promise<Tenant[]> =>
  across(ctx, (tx) => tenantsWithCounts(tx).orderBy(asc(tenants.name)));

export const getTenant = (ctx: UserContext, tenantId: string): Promise<Tenant> =>
  across(ctx, (tx) => tenantFor(tx, tenantId));

/** Throws 409 `TENANT_NAME_TAKEN`; names are unique regardless of case. */
export const createTenant = (ctx: UserContext, input: { name: string; isActive: boolean }): Promise<Tenant> =>
  across(ctx, async (tx) => {
    const id = newId();
    await tx.insert(tenants).values({ id, ...input });
    await recordAudit(tx, ctx, {
      action: 'tenants.create',
      tenantId: id,
      target: { type: 'tenant', id },
      summary: `Created the tenant ${input.name}.`,
    });
    return tenantFor(tx, id);
  });

/**
 * Throws 404, 409 `TENANT_NAME_TAKEN`, 409 `OWN_TENANT` if SUPER_ADMINs would lock themselves out, 409 `LAST_SUPER_ADMIN` if concurrent
 * changes leave no other SUPER_ADMIN.
 */
export const updateTenant = (
  ctx: UserContext,
  tenantId: string,
  change: { name?: string | undefined; isActive?: boolean | undefined },
): Promise<Tenant> =>
  across(ctx, async (tx) => {
    // Serialized by a lock, because each change also writes the fields that it does not change.
    await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId)).for('update');
    const before = await tenantFor(tx, tenantId);
    if (change.isActive === false && tenantId === ctx.tenantId)
      throw conflict('OWN_TENANT', 'You cannot deactivate the tenant you belong to.');
    const name = change.name ?? before.name;
    const isActive = change.isActive ?? before.isActive;
    if (name === before.name && isActive === before.isActive) return before;
    await tx.update(tenants).set({ name, isActive }).where(eq(tenants.id, tenantId));
    if (before.isActive && !isActive) await checkSuperAdminRemains(tx);
    await recordAudit(tx, ctx, {
      action: 'tenants.update',
      tenantId,
      target: { type: 'tenant', id: tenantId },
      summary: `Changed the tenant ${before.name}: ${[
        name !== before.name && `renamed to ${name}`,
        isActive !== before.isActive && (isActive ? 'activated' : 'deactivated'),
      ]
        .filter((part) => part !== false)
        .join(', ')}.`,
    });
    return tenantFor(tx, tenantId);
  });

/**
 * Deletes a tenant with everything it owns. Throws 409 `TENANT_HAS_ACTIVE_USERS` if it has an active account, 404. Deletes the accounts
 * first, in several transactions. An interrupted deletion leaves fewer inactive accounts, and the caller can repeat it.
 */
export async function deleteTenant(ctx: UserContext, tenantId: string): Promise<void> {
  await across(ctx, async (tx) => {
    await lockedTenant(tx, tenantId);
    if (await hasActiveAccount(tx, tenantId)) throw hasActiveUsers();
  });
  while ((await across(ctx, (tx) => deleteInactiveAccounts(tx, tenantId, accountsAtOnce))) === accountsAtOnce);
  await across(ctx, async (tx) => {
    await tx.execute(sql`set local statement_timeout = '5min'`);
    // The lock blocks new accounts meanwhile, because their foreign key needs this row.
    const { name } = await lockedTenant(tx, tenantId);
    // Deletes first and checks afterwards: the delete waits for an account that is being activated right now and sees it as active.
    const { wasAnyActive } = await deleteAccountsOf(tx, tenantId);
    if (wasAnyActive) throw hasActiveUsers();
    await tx.delete(tenants).where(eq(tenants.id, tenantId));
    await recordAudit(tx, ctx, {
      action: 'tenants.delete',
      tenantId,
      target: { type: 'tenant', id: tenantId },
      summary: `Deleted the tenant ${name}.`,
    });
  });
}

/** Accounts deleted per transaction, with their personal data. */
const accountsAtOnce = 500;

async function lockedTenant(tx: Tx, tenantId: string): Promise<{ name: string }> {
  const [tenant] = await tx.select({ name: tenants.name }).from(tenants).where(eq(tenants.id, tenantId)).for('update');
  if (!tenant) throw notFound();
  return tenant;
}

const hasActiveUsers = () =>
  conflict('TENANT_HAS_ACTIVE_USERS', 'This tenant still has active accounts. Please deactivate or delete them first.');

const across = <T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx
    .acrossTenants('a SUPER_ADMIN administers tenants', work)
    .catch(conflictOn({ tenants_name_unique: ['TENANT_NAME_TAKEN', 'Another tenant already has this name.'] }));

const tenantsWithCounts = (tx: Tx) =>
  tx
    .select({
      id: tenants.id,
      name: tenants.name,
      isActive: tenants.isActive,
      userCount: count(users.id),
      createdAt: tenants.createdAt,
    })
    .from(tenants)
    .leftJoin(users, eq(users.tenantId, tenants.id))
    .groupBy(tenants.id);

async function tenantFor(tx: Tx, tenantId: string): Promise<Tenant> {
  const [tenant] = await tenantsWithCounts(tx).where(eq(tenants.id, tenantId));
  if (!tenant) throw notFound();
  return tenant;
}
