import { and, eq, sql } from 'drizzle-orm';
import { dashboardImages } from '@portal/db/schema/dashboards';
import { tenants } from '@portal/db/schema/tenants';
import { users } from '@portal/db/schema/users';
import type { Profile } from '@portal/domain/accounts';
import type { DashboardBackground } from '@portal/domain/dashboard-background';
import { conflict, notFound, unauthenticated } from '@portal/domain/errors';
import type { Ctx } from '../run/context.ts';
import { ownColumns, toProfile } from './account-columns.ts';
import { namingConflicts } from './administer.ts';

export interface ProfileChange {
  accentColor?: string | undefined;
  displayName?: string | null | undefined;
  email?: string | null | undefined;
}

/** Changes what an account may change about itself. Throws 409 `DIRECTORY_ACCOUNT` for name and address of a directory account, 409 `EMAIL_TAKEN`. */
export async function updateOwnProfile(ctx: Ctx, change: ProfileChange): Promise<Profile> {
  const namesPerson = change.displayName !== undefined || change.email !== undefined;
  if (namesPerson && !ctx.account.isLocalUser) {
    throw conflict('DIRECTORY_ACCOUNT', 'Your name and address come from the directory. Please change them there.');
  }
  return setOwn(ctx, change);
}

/** Sets the background of the caller's dashboards. Throws 404 for a picture that is not the caller's. */
export async function setDashboardBackground(ctx: Ctx, background: DashboardBackground): Promise<Profile> {
  if (background.kind === 'image') {
    const { imageId } = background;
    const [image] = await ctx.read((db) =>
      db
        .select({ id: dashboardImages.id })
        .from(dashboardImages)
        .where(and(eq(dashboardImages.id, imageId), eq(dashboardImages.userId, ctx.actor.id))),
    );
    if (!image) throw notFound();
  }
  return setOwn(ctx, { dashboardBackground: background });
}

async function setOwn(ctx: Ctx, fields: Partial<typeof users.$inferInsert>): Promise<Profile> {
  const [account] = await namingConflicts(() =>
    ctx.tx(async (tx) => {
      await tx
        .update(users)
        .set({ ...fields, updatedAt: sql`now()` })
        .where(eq(users.id, ctx.actor.id));
      return tx
        .select(ownColumns)
        .from(users)
        .innerJoin(tenants, eq(tenants.id, users.tenantId))
        .where(eq(users.id, ctx.actor.id));
    }),
  );
  // Deleted while its last request was under way.
  if (!account) throw unauthenticated();
  return toProfile(account);
}
