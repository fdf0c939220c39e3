import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { tenants } from '@portal/db/schema/tenants';
import type { Profile } from '@portal/domain/accounts/accounts';
import type { DashboardBackground } from '@portal/domain/dashboards/background';
import { conflict, notFound, unauthenticated } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { changeDashboards } from '../dashboards/change-dashboards.ts';
import { ownColumns, toProfile } from './account-columns.ts';
import { requestEmailChange } from './request-email-change.ts';

export interface ProfileChange {
  accentColor?: string | undefined;
  displayName?: string | null | undefined;
  email?: string | null | undefined;
  currentPassword?: string | undefined;
}

/**
 * Changes what an account may change about itself. Throws 409 `DIRECTORY_ACCOUNT` for name and address of a directory account; an
 * address only begins to change, see `requestEmailChange`.
 */
export async function updateOwnProfile(
  ctx: UserContext,
  { email, currentPassword, ...change }: ProfileChange,
): Promise<Profile> {
  const namesPerson = change.displayName !== undefined || email !== undefined;
  if (namesPerson && !ctx.account.isLocalUser) {
    throw conflict('DIRECTORY_ACCOUNT', 'Your name and address come from the directory. Please change them there.');
  }
  if (email !== undefined) await requestEmailChange(ctx, email, currentPassword);
  return ctx.tx((tx) => setOwn(tx, ctx, change));
}

/** Sets the background of the caller's dashboards. Throws 404 for a picture that is not the caller's. */
export const setDashboardBackground = (ctx: UserContext, background: DashboardBackground): Promise<Profile> =>
  // The picture cannot go between the look at it and the write.
  changeDashboards(ctx, async (tx) => {
    if (background.kind === 'image') {
      const { imageId } = background;
      const [image] = await tx
        .select({ id: dashboardImages.id })
        .from(dashboardImages)
        .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id)));
      if (!image) throw notFound();
    }
    return setOwn(tx, ctx, { dashboardBackground: background });
  });

/** Takes a picture that is being deleted out of an account's background, so that none names what is not there. */
export async function clearBackgroundImage(tx: Tx, userId: string, imageId: string): Promise<void> {
  await tx
    .update(users)
    .set({ dashboardBackground: null, updatedAt: sql`now()` })
    .where(and(eq(users.id, userId), sql`${users.dashboardBackground} ->> 'imageId' = ${imageId}`));
}

async function setOwn(tx: Tx, ctx: UserContext, fields: Partial<typeof users.$inferInsert>): Promise<Profile> {
  await tx
    .update(users)
    .set({ ...fields, updatedAt: sql`now()` })
    .where(eq(users.id, ctx.actor.id));
  const [account] = await tx
    .select(ownColumns)
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(eq(users.id, ctx.actor.id));
  // Deleted while its last request was under way.
  if (!account) throw unauthenticated();
  return toProfile(account);
}
