import { eq } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { unauthenticated } from '@portal/domain/errors';
import { isNewRelease, seeRelease } from '@portal/domain/releases/releases';
import type { UserContext } from '@portal/platform/context';

/** The running release and the last one the caller has seen. */
export function releaseNotice(ctx: UserContext) {
  const { version, channel } = ctx.config.release;
  const lastSeenVersion = ctx.account.lastSeenReleaseVersion;
  return { running: { version, channel }, lastSeenVersion, isNew: isNewRelease(version, lastSeenVersion) };
}

/**
 * Remembers that the caller has seen a release; an older one than before changes nothing.
 * Throws 400 for what is no version or above the running release, 400 `NOT_COMPARABLE` while the running release is `dev`.
 */
export async function markReleaseSeen(ctx: UserContext, version: string): Promise<{ lastSeenVersion: string }> {
  return ctx.tx(async (tx) => {
    // Locked and compared again: of two windows that report at once the newer release stays.
    const [account] = await tx
      .select({ lastSeen: users.lastSeenReleaseVersion })
      .from(users)
      .where(eq(users.id, ctx.actor.id))
      .for('update');
    if (!account) throw unauthenticated();
    const lastSeenVersion = seeRelease(ctx.config.release.version, version, account.lastSeen);
    if (lastSeenVersion !== account.lastSeen) {
      await tx.update(users).set({ lastSeenReleaseVersion: lastSeenVersion }).where(eq(users.id, ctx.actor.id));
    }
    return { lastSeenVersion };
  });
}
