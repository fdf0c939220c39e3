import { eq } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { checkMayAdminister } from '@portal/domain/accounts/accounts';
import { forbidden } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { accountFor, administer, checkSuperAdminRemains } from './administer.ts';
import { recordAudit } from './audit.ts';

/** Deletes an account and everything personal that hangs on it. Throws 403 for the own account and for a SUPER_ADMIN by an ADMIN, 409 `LAST_SUPER_ADMIN`. */
export async function deleteUser(ctx: UserContext, userId: string): Promise<void> {
  const avatarPath = await administer(ctx, async (tx) => {
    const account = await accountFor(tx, userId, 'update');
    checkMayAdminister(ctx.actor, account);
    if (userId === ctx.actor.id) throw forbidden('FORBIDDEN', 'You may not delete your own account.');
    const [deleted] = await tx.delete(users).where(eq(users.id, userId)).returning({ avatarPath: users.avatarPath });
    if (account.role === 'SUPER_ADMIN' && account.isActive) await checkSuperAdminRemains(tx);
    await recordAudit(tx, ctx, {
      action: 'users.delete',
      tenantId: account.tenantId,
      target: { type: 'user', id: userId },
      summary: `Deleted the account ${account.username}.`,
    });
    return deleted?.avatarPath ?? null;
  });
  if (avatarPath !== null) await ctx.files.remove(avatarPath);
}

/** Deletes every account of a tenant that is being deleted itself. */
export async function deleteAccountsOf(tx: Tx, tenantId: string): Promise<{ wasAnyActive: boolean }> {
  const accounts = await tx.delete(users).where(eq(users.tenantId, tenantId)).returning({ isActive: users.isActive });
  return { wasAnyActive: accounts.some(({ isActive }) => isActive) };
}
