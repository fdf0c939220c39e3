import { checkMayAdminister } from '@portal/domain/accounts/accounts';
import type { UserContext } from '@portal/platform/context';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { endSessionsOf } from './end-sessions.ts';

/** Ends every session of an account the actor may administer. Throws 403 for a SUPER_ADMIN by an ADMIN, 404. */
export async function endUserSessions(ctx: UserContext, userId: string): Promise<void> {
  await administer(ctx, async (tx) => {
    const account = await accountFor(tx, userId, 'update');
    checkMayAdminister(ctx.actor, account);
    await endSessionsOf(tx, userId);
    await recordAudit(tx, ctx, {
      action: 'users.logout_all',
      tenantId: account.tenantId,
      target: { type: 'user', id: userId },
      summary: `Ended all sessions of ${account.username}.`,
    });
  });
}
