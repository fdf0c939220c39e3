import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { busy, unauthenticated } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { clearHits, type RateLimit, retryAfter, consume } from '@portal/platform/rate-limit';
import { isTemporaryPasswordExpired } from './account-columns.ts';
import { passwordHashing } from './password-hashing.ts';

const wrongPasswords: RateLimit = { name: 'wrong current password', max: 5, windowSec: 10 * 60 };

/**
 * Checks the caller's current password and returns the matching hash for `lockCheckedAccount`. Counts a guess before checking it, so
 * that even concurrent guesses get only five checks in ten minutes. Throws 401 `CURRENT_PASSWORD_WRONG`, 429.
 */
export async function checkCurrentPassword(ctx: UserContext, given: string): Promise<string> {
  const { id } = ctx.actor;
  const [[stored], isCounted, waitSec] = await ctx.tx((tx) =>
    Promise.all([
      tx
        .select({ hash: users.passwordHash })
        .from(users)
        .where(and(eq(users.id, id), sql`not ${isTemporaryPasswordExpired}`)),
      consume(tx, wrongPasswords, id),
      retryAfter(tx, wrongPasswords, id),
    ]),
  );
  if (!isCounted)
    throw busy('Too many wrong passwords. Please wait before you try again.', waitSec ?? wrongPasswords.windowSec);
  const hash = stored?.hash ?? null;
  if (!(await passwordHashing(ctx).verify(hash, given)) || hash === null) throw currentPasswordWrong();
  return hash;
}

/**
 * Locks the caller's row in the transaction of the protected change and resets the guess counter. Throws 401 `CURRENT_PASSWORD_WRONG`
 * if the password has changed since the check, so only one of two concurrent changes with the same password succeeds.
 */
export async function lockCheckedAccount(tx: Tx, ctx: UserContext, hash: string): Promise<{ email: string | null }> {
  const [account] = await tx
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.id, ctx.actor.id), eq(users.passwordHash, hash)))
    .for('no key update');
  if (!account) throw currentPasswordWrong();
  await clearHits(tx, wrongPasswords, ctx.actor.id);
  return account;
}

const currentPasswordWrong = () => unauthenticated('CURRENT_PASSWORD_WRONG');
