import { randomInt } from 'node:crypto';
import { checkMayAdminister, checkNewPassword } from '@portal/domain/accounts/accounts';
import { conflict, forbidden } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { accountFor, administer } from './administer.ts';
import { recordAudit } from './audit.ts';
import { loadCommonPasswords } from './common-passwords.ts';
import { passwordHashing } from './password-hashing.ts';
import { setPassword } from './passwords.ts';

/**
 * Gives another account a password that must be changed at the next sign-in; without one given, one is made and answered this once.
 * Throws 403 for the own account and for a SUPER_ADMIN by an ADMIN, 409 `DIRECTORY_ACCOUNT`, 400 `PASSWORD_POLICY`.
 */
export async function adminResetPassword(
  ctx: UserContext,
  userId: string,
  given: string | undefined,
): Promise<{ temporaryPassword?: string }> {
  if (userId === ctx.actor.id) throw forbidden('FORBIDDEN', 'Please change your own password with the current one.');
  const check = async (tx: Parameters<typeof accountFor>[0], lock?: 'update') => {
    const account = await accountFor(tx, userId, lock);
    checkMayAdminister(ctx.actor, account);
    if (!account.isLocalUser)
      throw conflict('DIRECTORY_ACCOUNT', 'This account signs in with the directory. Its password is set there.');
    return account;
  };
  // Checked before the costly hash and again under lock: rights may change in between.
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

// Without characters that are mistaken for one another when read aloud or copied by hand.
const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Four groups of four: about 92 bits, easy to read over the telephone. */
export const makePassword = (): string =>
  Array.from({ length: 4 }, () => Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('')).join(
    '-',
  );
