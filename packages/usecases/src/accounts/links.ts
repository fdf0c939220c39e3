import { createHash, randomBytes } from 'node:crypto';
import { and, eq, isNotNull, ne, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { emailTokens, passwordTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';

export type LinkPurpose = (typeof passwordTokens.$inferSelect)['purpose'];

/** What stands in the database for a token. Tokens are random enough that no salt is needed. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** 256 random bits. */
export const makeToken = (): string => randomBytes(32).toString('base64url');

/** The page of the web front end that takes the token; after the `#`, so that no server or proxy log ever sees it. */
export const passwordLink = (publicUrl: string, token: string): string => `${publicUrl}/reset-password#token=${token}`;

/**
 * Makes a set-password token for the mail being rendered, the only place its clear form may go. It is valid for seven days.
 * Unused tokens of the same purpose die, except those of the same mail: of a mail that went out twice both links work,
 * until one of them is used. Unless said otherwise the mail counts as one over the tenant's own server.
 */
export async function issueLink(
  tx: Tx,
  link: {
    tenantId: string;
    userId: string;
    purpose: LinkPurpose;
    email: string;
    mailId: string;
    overTenantServer?: boolean;
  },
): Promise<{ token: string; expiresAt: Date }> {
  const token = makeToken();
  // Whoever changes the account holds its row before its links, so they are asked for in the same order.
  await tx.select({ id: users.id }).from(users).where(eq(users.id, link.userId)).for('key share');
  await tx
    .delete(passwordTokens)
    .where(
      and(
        eq(passwordTokens.userId, link.userId),
        eq(passwordTokens.purpose, link.purpose),
        ne(passwordTokens.mailId, link.mailId),
      ),
    );
  const [made] = await tx
    .insert(passwordTokens)
    .values({ id: newId(), ...link, tokenHash: hashToken(token), expiresAt: sql`now() + interval '7 days'` })
    .returning({ expiresAt: passwordTokens.expiresAt });
  if (!made) throw new Error('inserting a password token returned no row');
  return { token, expiresAt: made.expiresAt };
}

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
