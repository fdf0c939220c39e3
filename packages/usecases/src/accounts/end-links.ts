import { and, eq, isNotNull } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { emailTokens, passwordTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';

/** Every unused link of an account dies: those that set its password, and the one to a pending address, which is forgotten. */
export async function endLinksOf(tx: Tx, userId: string): Promise<void> {
  await Promise.all([
    forgetPendingEmail(tx, userId),
    tx.delete(passwordTokens).where(eq(passwordTokens.userId, userId)),
  ]);
}

/** Takes back a change of address that has not been confirmed; says whether there was one. */
export async function forgetPendingEmail(tx: Tx, userId: string): Promise<boolean> {
  const [forgotten] = await Promise.all([
    tx
      .update(users)
      .set({ pendingEmail: null, pendingEmailUntil: null })
      .where(and(eq(users.id, userId), isNotNull(users.pendingEmail)))
      .returning({ id: users.id }),
    tx.delete(emailTokens).where(eq(emailTokens.userId, userId)),
  ]);
  return forgotten.length > 0;
}
