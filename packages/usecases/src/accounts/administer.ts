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

/** A transaction that reaches the accounts the actor may administer: an ADMIN's own tenant, a SUPER_ADMIN's every tenant. */
export const administer = <T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> =>
  namingConflicts(() =>
    isSuperAdmin(ctx.actor) ? ctx.acrossTenants('a SUPER_ADMIN administers accounts', work) : ctx.tx(work),
  );

/** Runs a change of accounts; a duplicate that the unique index found is thrown as 409 `USERNAME_TAKEN` or `EMAIL_TAKEN`. */
const namingConflicts = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(
    conflictOn({
      users_username_unique: ['USERNAME_TAKEN', 'This username is already taken.'],
      users_email_unique: ['EMAIL_TAKEN', 'Another account already has this e-mail address.'],
    }),
  );

/** The account as it stands, 404 when it is not there for the actor; locked until the transaction ends when it is about to change. */
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
 * Throws 409 `LAST_SUPER_ADMIN` when the change just made in this transaction, which has to be one across tenants, leaves no active
 * SUPER_ADMIN anywhere. Such changes wait for one another, so that two at once cannot each rely on the other's account.
 */
export async function checkSuperAdminRemains(tx: Tx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.superAdmin})`);
  const [left] = await tx
    .select({ count: count() })
    .from(users)
    .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
    .where(and(sql`${users.role} = 'SUPER_ADMIN'`, eq(users.isActive, true), isTrustworthy));
  if ((left?.count ?? 0) === 0)
    throw conflict('LAST_SUPER_ADMIN', 'This is the last active SUPER_ADMIN. Please appoint another one first.');
}
