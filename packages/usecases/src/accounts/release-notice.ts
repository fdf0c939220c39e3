import { eq } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { unauthenticated } from '@portal/domain/errors';
import { isNewRelease, seeRelease } from '@portal/domain/releases/releases';
import type { UserContext } from '@portal/platform/context';

/** The running release and the last release that the caller has seen. */
export function releaseNotice(ctx: UserContext) {
  const { version, channel } = ctx.config.release;
  const lastSeenVersion = ctx.account.lastSeenReleaseVersion;
  return { running: { version, channel }, lastSeenVersion, isNew: isNewRelease(version, lastSeenVersion) };
}

/**
 * Stores that the caller has seen a release. A version older than the stored one changes nothing.
 * Throws 400 for an invalid version or one above the running release, 400 `NOT_COMPARABLE` while the running release is `dev`.
 */
export async function markReleaseSeen(ctx: UserContext, version: string): Promise<{ lastSeenVersion: string }> {
  return ctx.tx(async (tx) => {
    // Compared under a lock, so that the newer release wins if two windows report at once.
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
