import { randomInt } from 'node:crypto';
import { and, eq, isNull, or, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { checkMayAdminister, checkNewPassword, normalizeUsername } from '@portal/domain/accounts/accounts';
import { conflict, forbidden, notFound } from '@portal/domain/errors';
import type { SystemContext, UserContext } from '@portal/platform/context';
import { leaveImportedGroups } from '../modules/imported-groups.ts';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { passwordHashing } from './password-hashing.ts';
import { setPassword } from './passwords.ts';

/**
 * Gives another account a password that must be changed at the next sign-in. Without `given`, generates a password and returns it
 * once. Throws 403 for the caller's own account and if an ADMIN acts on a SUPER_ADMIN, 409 `DIRECTORY_ACCOUNT`, 400 `PASSWORD_POLICY`.
 */
export async function adminResetPassword(
  ctx: UserContext,
  userId: string,
  given: string | undefined,
): Promise<{ temporaryPassword?: string }> {
  if (userId === ctx.actor.id)
    throw forbidden('FORBIDDEN', 'Please change your own password in your profile, with your current password.');
  const check = async (tx: Parameters<typeof accountFor>[0], lock?: 'update') => {
    const account = await accountFor(tx, userId, lock);
    checkMayAdminister(ctx.actor, account);
    if (!account.isLocalUser)
      throw conflict(
        'DIRECTORY_ACCOUNT',
        'This account signs in with the directory. Please change its password there.',
      );
    return account;
  };
  // Checked before the expensive hash, and again under the lock, because rights may change in between.
  const account = await administer(ctx, check);
  const password = given ?? makePassword();
  if (given !== undefined) checkNewPassword(given, account, await loadCommonPasswords());
  const hash = await passwordHashing(ctx).hash(password);
  await administer(ctx, async (tx) => {
    const { tenantId, username } = await check(tx, 'update');
    await setPassword(tx, userId, { hash, mustChange: true });
    await recordAudit(tx, ctx, {
      action: 'users.reset_password',
      tenantId,
      target: { type: 'user', id: userId },
      summary: `Set a temporary password for ${username}.`,
    });
  });
  return given === undefined ? { temporaryPassword: password } : {};
}

/**
 * Restores access for operators on the server: gives a local account of any tenant a temporary password and returns it once. Does not
 * activate the account. Turns a SUPER_ADMIN from a directory into a local account. Throws 404 for an unknown username and for any
 * other directory account.
 */
export async function operatorResetPassword(
  system: SystemContext,
  username: string,
): Promise<{ temporaryPassword: string; wasInDirectory: boolean }> {
  const temporaryPassword = makePassword();
  const hash = await passwordHashing(system).hash(temporaryPassword);
  const wasInDirectory = await system.acrossTenants('an operator resets a password by name', async (tx) => {
    const [account] = await tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username, ldapDn: users.ldapDn })
      .from(users)
      .where(
        and(
          eq(users.username, normalizeUsername(username)),
          or(isNull(users.ldapDn), sql`${users.role} = 'SUPER_ADMIN'`),
        ),
      )
      .for('update');
    if (!account) throw notFound();
    const isFromDirectory = account.ldapDn !== null;
    if (isFromDirectory) await takeFromDirectory(tx, account.id);
    await setPassword(tx, account.id, { hash, mustChange: true });
    await recordAudit(tx, system, {
      action: 'users.reset_password',
      tenantId: account.tenantId,
      target: { type: 'user', id: account.id },
      summary: `An operator set a temporary password for ${account.username} on the server.${
        isFromDirectory ? ' The account no longer belongs to the directory, and its e-mail address was removed.' : ''
      }`,
    });
    return isFromDirectory;
  });
  return { temporaryPassword, wasInDirectory };
}

/** Turns the account into a local one. Removes the address from the directory, too, because reset links would go there. */
async function takeFromDirectory(tx: Tx, userId: string): Promise<void> {
  await tx
    .update(users)
    .set({ ldapDn: null, directoryId: null, deactivatedBySync: false, email: null })
    .where(eq(users.id, userId));
  await leaveImportedGroups(tx, userId);
}

// Without characters that are easily confused when read aloud or copied by hand.
const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Four groups of four: about 92 bits, easy to read over the telephone. */
export const makePassword = (): string =>
  Array.from({ length: 4 }, () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')).join(
    '-',
  );
