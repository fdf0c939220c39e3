import { createHash, randomBytes } from 'node:crypto';
import { and, eq, isNotNull, ne, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { emailTokens, passwordTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';

export type LinkPurpose = (typeof passwordTokens.$inferSelect)['purpose'];

/** The form in which the database stores a token. Tokens are random enough to need no salt. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** 256 random bits. */
export const makeToken = (): string => randomBytes(32).toString('base64url');

/** The front-end page that takes the token. The token follows the `#`, so that no server or proxy logs it. */
export const passwordLink = (publicUrl: string, token: string): string => `${publicUrl}/reset-password#token=${token}`;

/**
 * Issues a set-password token for the mail being rendered; no other place may hold it in the clear. It is valid for seven days.
 * Deletes the account's unused tokens of the same purpose, except those of the same mail: if a mail was sent twice, both links work
 * until the user follows one. By default, `overTenantServer` is true.
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
  // Changes of an account lock its row before its links, so lock in the same order here.
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
  const [inserted] = await tx
    .insert(passwordTokens)
    .values({ id: newId(), ...link, tokenHash: hashToken(token), expiresAt: sql`now() + interval '7 days'` })
    .returning({ expiresAt: passwordTokens.expiresAt });
  if (!inserted) throw new Error('inserting a password token returned no row');
  return { token, expiresAt: inserted.expiresAt };
}

/** The front-end page that takes the token. The token follows the `#`, so that no server or proxy logs it. */
export const confirmLink = (publicUrl: string, token: string): string => `${publicUrl}/confirm-email#token=${token}`;

/**
 * Issues the token that confirms an account's pending address, for the mail being rendered; no other place may hold it in the clear.
 * The token expires together with the change. Deletes the tokens of other mails. Returns null if this address is no longer pending.
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

/** Invalidates all unused links of an account: those that set its password, and that to its pending address, which is cleared. */
export async function endLinksOf(tx: Tx, userId: string): Promise<void> {
  await Promise.all([
    forgetPendingEmail(tx, userId),
    tx.delete(passwordTokens).where(eq(passwordTokens.userId, userId)),
  ]);
}

/** Cancels an unconfirmed change of address. Returns whether there was one. */
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
