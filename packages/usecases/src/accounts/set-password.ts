import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { passwordTokens } from '@portal/db/schema/accounts';
import { users } from '@portal/db/schema/users';
import { endSessionsOf } from './end-sessions.ts';

/**
 * Gives an account a new password: every session ends and every open set-password link dies.
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
      .set({ passwordHash: password.hash, mustChangePassword: password.mustChange, updatedAt: sql`now()` })
      .where(eq(users.id, userId)),
    tx.delete(passwordTokens).where(eq(passwordTokens.userId, userId)),
  ]);
  return version;
}
