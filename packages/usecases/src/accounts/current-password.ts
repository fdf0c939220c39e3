import { and, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { busy, unauthenticated } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { clearHits, type RateLimit, retryAfter, consume } from '@portal/platform/rate-limit';
import { isTemporaryPasswordOver } from './account-columns.ts';
import { passwordHashing } from './password-hashing.ts';

const wrongPasswords: RateLimit = { name: 'wrong current password', max: 5, windowSec: 10 * 60 };

/**
 * Checks the caller's current password and answers the hash it matched, for `holdChecked`. A guess is counted before it is looked
 * at, so that however many come at once no more than five in ten minutes are. Throws 401 `CURRENT_PASSWORD_WRONG`, 429.
 */
export async function checkCurrentPassword(ctx: UserContext, given: string): Promise<string> {
  const { id } = ctx.actor;
  const [[stored], isCounted, waitSec] = await ctx.tx((tx) =>
    Promise.all([
      tx
        .select({ hash: users.passwordHash })
        .from(users)
        .where(and(eq(users.id, id), sql`not ${isTemporaryPasswordOver}`)),
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
 * Holds the caller's row, in the transaction that writes what the password was asked for, and forgets the guesses. Throws like a
 * wrong password when another one has been set since it was checked: of two changes with the same password at once, one wins.
 */
export async function holdChecked(tx: Tx, ctx: UserContext, hash: string): Promise<{ email: string | null }> {
  const [held] = await tx
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.id, ctx.actor.id), eq(users.passwordHash, hash)))
    .for('no key update');
  if (!held) throw currentPasswordWrong();
  await clearHits(tx, wrongPasswords, ctx.actor.id);
  return held;
}

const currentPasswordWrong = () => unauthenticated('CURRENT_PASSWORD_WRONG');
