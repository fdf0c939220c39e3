import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { isSuperAdmin, type Role } from '@portal/domain/access';
import { checkMayAdminister, checkMayAssign, type User } from '@portal/domain/accounts/accounts';
import { conflict, forbidden } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { nudgeMails } from '@portal/platform/outbox/queue-mail';
import { toUser } from './account-columns.ts';
import { accountFor, administer, checkSuperAdminRemains } from './administer.ts';
import { recordAudit } from './audit.ts';
import { queueEmailNotice } from './change-notices.ts';
import { endLinksOf } from './links.ts';
import { emailChangedMail } from './mails/email-changed.ts';

export interface UserChange {
  username?: string | undefined;
  email?: string | null | undefined;
  displayName?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  role?: Role | undefined;
  isActive?: boolean | undefined;
  mustChangePassword?: boolean | undefined;
  accentColor?: string | undefined;
}

// A directory account's name and address come from the directory and would be overwritten by the next sync.
const fromDirectory = ['username', 'email', 'displayName', 'firstName', 'lastName', 'mustChangePassword'] as const;

/**
 * Changes the given fields. Throws 403 if an ADMIN changes a SUPER_ADMIN, and for the caller's own role, address and deactivation;
 * 409 `DIRECTORY_ACCOUNT` (also if the account would become SUPER_ADMIN), `USERNAME_TAKEN`, `EMAIL_TAKEN`, `LAST_SUPER_ADMIN`.
 * A given `isActive` counts as the administrator's decision even if it changes nothing: no synchronization switches the account on
 * again. A changed address counts as confirmed, invalidates every unused link, and the old address gets a notice.
 */
export async function updateUser(ctx: UserContext, userId: string, change: UserChange): Promise<User> {
  const user = await administer(ctx, async (tx) => {
    const before = await accountFor(tx, userId, 'update');
    checkMayAdminister(ctx.actor, before);
    if (change.role !== undefined) checkMayAssign(ctx.actor, change.role);
    if (userId === ctx.actor.id) {
      if (change.role !== undefined && change.role !== before.role)
        throw forbidden('FORBIDDEN', 'You may not change your own role.');
      // This route asks for no password, so a stolen session could redirect the account's reset links.
      if (change.email !== undefined && change.email !== before.email)
        throw forbidden(
          'FORBIDDEN',
          'Please change your own e-mail address in your profile, with your current password.',
        );
      if (change.isActive === false) throw forbidden('FORBIDDEN', 'You may not deactivate your own account.');
    }
    if (
      !before.isLocalUser &&
      fromDirectory.some((field) => change[field] !== undefined && change[field] !== before[field])
    ) {
      throw conflict(
        'DIRECTORY_ACCOUNT',
        'Name and address of this account come from the directory. Please change them there.',
      );
    }
    // `before` was read under the lock: a synchronization that links accounts waits, then finds a SUPER_ADMIN and does not touch it.
    if (!before.isLocalUser && change.role === 'SUPER_ADMIN' && before.role !== 'SUPER_ADMIN') {
      throw conflict(
        'DIRECTORY_ACCOUNT',
        'A directory account cannot be SUPER_ADMIN. Please create a local account for this person.',
      );
    }
    const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<
      typeof before
    >;
    const changed = Object.keys(fields).filter(
      (field) => fields[field as keyof typeof fields] !== before[field as keyof typeof before],
    );
    const overridesSync = change.isActive !== undefined && (await overrideSync(tx, userId));
    if (changed.length === 0 && !overridesSync) return toUser(before);

    await tx
      .update(users)
      .set({
        ...fields,
        // An administrator who lifts the forced change accepts the password, so it no longer expires.
        ...(change.mustChangePassword === false && { temporaryPasswordUntil: null }),
        updatedAt: sql`now()`,
      })
      .where(eq(users.id, userId));
    if (changed.includes('email')) {
      await endLinksOf(tx, userId);
      await queueEmailNotice(tx, emailChangedMail, before);
    }
    const wasActiveSuperAdmin = before.role === 'SUPER_ADMIN' && before.isActive;
    const after = { ...before, ...fields };
    if (wasActiveSuperAdmin && isSuperAdmin(ctx.actor) && !(after.role === 'SUPER_ADMIN' && after.isActive))
      await checkSuperAdminRemains(tx);
    await recordAudit(tx, ctx, {
      action: 'users.update',
      tenantId: before.tenantId,
      target: { type: 'user', id: userId },
      summary:
        changed.length === 0
          ? `Left the account ${before.username} deactivated; synchronizations no longer activate it.`
          : `Changed ${changed.join(', ')} of the account ${before.username}${describeRights(change, before)}.`,
    });
    return toUser(await accountFor(tx, userId));
  });
  if (change.email !== undefined) void nudgeMails(ctx, user.tenantId);
  return user;
}

/**
 * Returns whether a synchronization had switched the account off. From now on this counts as the administrator's decision, and no
 * synchronization switches the account on again.
 */
async function overrideSync(tx: Tx, userId: string): Promise<boolean> {
  const overridden = await tx
    .update(users)
    .set({ deactivatedBySync: false })
    .where(and(eq(users.id, userId), eq(users.deactivatedBySync, true)))
    .returning({ id: users.id });
  return overridden.length > 0;
}

/** Describes changed rights for the audit log, which shows no other values. */
function describeRights(change: UserChange, before: { role: Role; isActive: boolean }): string {
  const parts = [
    change.role !== undefined && change.role !== before.role ? `role ${before.role} to ${change.role}` : null,
    change.isActive !== undefined && change.isActive !== before.isActive
      ? change.isActive
        ? 'activated'
        : 'deactivated'
      : null,
  ].filter((part) => part !== null);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}
