import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { endLinksOf } from './links.ts';
import { endSessionsOf } from './sessions.ts';

/** Until when a password that somebody else chose, and that must be changed, is a way in (contract section 3). */
export const temporaryPasswordUntil = sql<Date>`now() + interval '7 days'`;

/**
 * Gives an account a new password: every session ends and every open link dies, one to a pending address too, so that whoever
 * finds a stranger's change under way ends it by choosing another password. One that must be changed is good for seven days.
 * Answers the session version a fresh token must carry. The caller has checked the policy and hashed outside the transaction.
 */
export async function setPassword(
  tx: Tx,
  userId: string,
  password: { hash: string; mustChange: boolean },
): Promise<number> {
  const [version] = await Promise.all([
    endSessionsOf(tx, userId),
    tx
      .update(users)
      .set({
        passwordHash: password.hash,
        mustChangePassword: password.mustChange,
        temporaryPasswordUntil: password.mustChange ? temporaryPasswordUntil : null,
        updatedAt: sql`now()`,
      })
      .where(eq(users.id, userId)),
    endLinksOf(tx, userId),
  ]);
  return version;
}
