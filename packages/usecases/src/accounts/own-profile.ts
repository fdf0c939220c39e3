import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import type { Language, Profile, Theme } from '@portal/domain/accounts/accounts';
import { conflict, unauthenticated } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { ownColumns, toProfile } from './account-columns.ts';
import { recordAudit } from './audit.ts';
import { requestEmailChange } from './email-change.ts';

export interface ProfileChange {
  accentColor?: string | undefined;
  displayName?: string | null | undefined;
  language?: Language | null | undefined;
  theme?: Theme | null | undefined;
  email?: string | null | undefined;
  currentPassword?: string | undefined;
}

/**
 * Changes the caller's own profile. Throws 409 `DIRECTORY_ACCOUNT` for name and address of a directory account. A new address takes
 * effect only after confirmation, see `requestEmailChange`.
 */
export async function updateOwnProfile(
  ctx: UserContext,
  { email, currentPassword, ...change }: ProfileChange,
): Promise<Profile> {
  const changesPerson = change.displayName !== undefined || email !== undefined;
  if (changesPerson && !ctx.account.isLocalUser) {
    throw conflict('DIRECTORY_ACCOUNT', 'Your name and address come from the directory. Please change them there.');
  }
  if (email !== undefined) await requestEmailChange(ctx, email, currentPassword);
  return ctx.tx(async (tx) => {
    if (change.displayName !== undefined) await recordNewName(tx, ctx, change.displayName);
    return writeOwnProfile(tx, ctx, change);
  });
}

/** Records a change of the display name in the audit log. */
async function recordNewName(tx: Tx, ctx: UserContext, displayName: string | null): Promise<void> {
  const { id, username } = ctx.actor;
  const [before] = await tx
    .select({ displayName: users.displayName })
    .from(users)
    .where(eq(users.id, id))
    .for('update');
  if (!before || before.displayName === displayName) return;
  await recordAudit(tx, ctx, {
    action: 'users.update',
    tenantId: ctx.tenantId,
    target: { type: 'user', id },
    summary: `${username} changed their own display name.`,
  });
}

/** Removes a picture that is being deleted from the account's background. */
export async function clearBackgroundImage(tx: Tx, userId: string, imageId: string): Promise<void> {
  await tx
    .update(users)
    .set({ dashboardBackground: null, updatedAt: sql`now()` })
    .where(and(eq(users.id, userId), sql`${users.dashboardBackground} ->> 'imageId' = ${imageId}`));
}

/** Writes these columns of the caller's account and returns the new profile. */
export async function writeOwnProfile(
  tx: Tx,
  ctx: UserContext,
  fields: Partial<
    Pick<typeof users.$inferInsert, 'accentColor' | 'displayName' | 'language' | 'theme' | 'dashboardBackground'>
  >,
): Promise<Profile> {
  await tx
    .update(users)
    .set({ ...fields, updatedAt: sql`now()` })
    .where(eq(users.id, ctx.actor.id));
  const [account] = await tx
    .select(ownColumns)
    .from(users)
    .innerJoin(tenants, eq(tenants.id, users.tenantId))
    .where(eq(users.id, ctx.actor.id));
  // The account was deleted during this request.
  if (!account) throw unauthenticated();
  return toProfile(account);
}
