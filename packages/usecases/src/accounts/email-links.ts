import { and, eq, ne, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { emailTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';
import { hashToken, makeToken } from './password-links.ts';

/** The page of the web front end that takes the token; after the `#`, so that no server or proxy log ever sees it. */
export const confirmLink = (publicUrl: string, token: string): string => `${publicUrl}/confirm-email#token=${token}`;

/**
 * Makes the token that confirms an account's pending address, for the mail being rendered, the only place its clear form may go;
 * null when the account no longer waits for this address. It is valid as long as the change is. Tokens of other mails die.
 */
export async function issueEmailLink(
  tx: Tx,
  link: { tenantId: string; userId: string; email: string; mailId: string },
): Promise<{ token: string; expiresAt: Date } | null> {
  const [pending] = await tx
    .select({ until: users.pendingEmailUntil })
    .from(users)
    .where(and(eq(users.id, link.userId), eq(users.pendingEmail, link.email), sql`${users.pendingEmailUntil} > now()`))
    .for('key share');
  if (!pending?.until) return null;
  const token = makeToken();
  await tx.delete(emailTokens).where(and(eq(emailTokens.userId, link.userId), ne(emailTokens.mailId, link.mailId)));
  await tx.insert(emailTokens).values({ id: newId(), ...link, tokenHash: hashToken(token), expiresAt: pending.until });
  return { token, expiresAt: pending.until };
}
