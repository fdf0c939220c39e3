import { and, count, eq, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { isSuperAdmin } from '@portal/domain/access';
import { conflict, notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { type Account, accountColumns, isTrustworthy } from './account-columns.ts';

/** Opens a transaction on the accounts that the actor may administer: an ADMIN those of their tenant, a SUPER_ADMIN those of all. */
export const administer = <T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> =>
  namingConflicts(() =>
    isSuperAdmin(ctx.actor) ? ctx.acrossTenants('a SUPER_ADMIN administers accounts', work) : ctx.tx(work),
  );

/** Turns violations of the unique indexes into 409 `USERNAME_TAKEN` or `EMAIL_TAKEN`. */
const namingConflicts = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(
    conflictOn({
      users_username_unique: ['USERNAME_TAKEN', 'This username is already taken.'],
      users_email_unique: ['EMAIL_TAKEN', 'Another account already has this e-mail address.'],
    }),
  );

/** Reads an account; throws 404 if the actor cannot see it. With `lock`, locks the row until the transaction ends. */
export async function accountFor(tx: Tx, userId: string, lock?: 'update'): Promise<Account> {
  const query = tx
    .select(accountColumns)
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(eq(users.id, userId));
  const [account] = await (lock ? query.for('update', { of: users }) : query);
  if (!account) throw notFound();
  return account;
}

/**
 * Throws 409 `LAST_SUPER_ADMIN` if this transaction leaves no active SUPER_ADMIN in any tenant. It must be a transaction across
 * tenants. An advisory lock serializes these checks, so that two concurrent changes cannot each rely on the other's account.
 */
export async function checkSuperAdminRemains(tx: Tx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.superAdmin})`);
  const [remaining] = await tx
    .select({ count: count() })
    .from(users)
    .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
    .where(and(sql`${users.role} = 'SUPER_ADMIN'`, eq(users.isActive, true), isTrustworthy));
  if ((remaining?.count ?? 0) === 0)
    throw conflict('LAST_SUPER_ADMIN', 'This is the last active SUPER_ADMIN. Please appoint another one first.');
}
