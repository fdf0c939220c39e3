import { and, eq, inArray } from 'drizzle-orm';
import type { TenantScope, Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenderMatches } from '@portal/db/schema/tenders/matches';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import type { NotificationPreference } from '@portal/domain/tenders/saved-searches';
import type { UserContext } from '@portal/platform/context';
import { digestRhythmOf, dismissDigest, returnToPending } from './match-state.ts';

/** Daily by default. */
export const notificationPreference = async (ctx: UserContext): Promise<NotificationPreference> => ({
  digest: await digestRhythmOf(ctx, ctx.actor.id),
});

/** Sets the rhythm of the digest. `off` dismisses unsent matches and changes. */
export async function setNotificationPreference(
  ctx: UserContext,
  preference: NotificationPreference,
): Promise<NotificationPreference> {
  await ctx.tx((tx) => writePreference(tx, { tenantId: ctx.tenantId, userId: ctx.actor.id }, preference));
  return preference;
}

interface Account {
  tenantId: string;
  userId: string;
}

async function writePreference(tx: Tx, account: Account, { digest }: NotificationPreference): Promise<void> {
  await tx
    .insert(tenderPreferences)
    .values({ ...account, digest })
    .onConflictDoUpdate({ target: [tenderPreferences.tenantId, tenderPreferences.userId], set: { digest } });
  if (digest === 'off') await dismissDigest(tx, account.userId);
}

/** Ends the mails of this kind for the account. Returns false if the account does not exist. */
export const endAlerts = (
  scope: TenantScope,
  { userId, kind }: { userId: string; kind: 'digest' | 'instant' },
): Promise<boolean> =>
  scope.tx(async (tx) => {
    const [known] = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update');
    if (!known) return false;
    if (kind === 'digest') await writePreference(tx, { tenantId: scope.tenantId, userId }, { digest: 'off' });
    else {
      const own = tx.select({ id: savedSearches.id }).from(savedSearches).where(eq(savedSearches.userId, userId));
      await tx.update(savedSearches).set({ instantAlert: false }).where(eq(savedSearches.userId, userId));
      await returnToPending(tx, userId, and(inArray(tenderMatches.searchId, own), eq(tenderMatches.kind, 'instant')));
    }
    return true;
  });
