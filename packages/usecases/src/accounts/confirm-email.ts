import { and, eq, isNull, sql } from 'drizzle-orm';
import { violatedConstraint } from '@portal/db/database-error';
import { emailTokens } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { invalid } from '@portal/domain/errors';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails } from '@portal/platform/outbox/queue-mail';
import { recordAudit } from './audit.ts';
import { endLinksOf } from './links.ts';
import { hashToken } from './links.ts';
import { emailChangedMail } from './mails/email-changed.ts';
import { queueEmailNotice } from './queue-change-notice.ts';

/**
 * Makes an account's pending address its own, with the token mailed there, once. Every other unused link of the account ends and
 * the old address gets a notice. Throws 400 `TOKEN_INVALID`, the same for an unknown, used and expired token, for a change taken
 * back, for an account that may not sign in and for an address that another account has got meanwhile.
 */
export async function confirmEmail(system: SystemContext, token: string): Promise<void> {
  const tokenHash = hashToken(token);
  const isAwaited = and(
    eq(users.pendingEmail, emailTokens.email),
    sql`${users.pendingEmailUntil} > now()`,
    eq(users.isActive, true),
    isNull(users.ldapDn),
  );
  const [account] = await system.acrossTenants('a link that confirms an address names no tenant', (tx) =>
    tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username })
      .from(emailTokens)
      .innerJoin(users, and(eq(users.tenantId, emailTokens.tenantId), eq(users.id, emailTokens.userId)))
      .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
      .where(and(eq(emailTokens.tokenHash, tokenHash), isAwaited)),
  );
  if (!account) throw tokenInvalid();
  const { id, tenantId, username } = account;
  try {
    await system.inTenant(tenantId).tx(async (tx) => {
      // Held and asked again: of parallel uses one finds its token, and a change taken back meanwhile confirms nothing.
      await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('no key update');
      const [held] = await tx
        .select({ email: users.email, pendingEmail: users.pendingEmail })
        .from(users)
        .innerJoin(emailTokens, and(eq(emailTokens.userId, users.id), eq(emailTokens.tokenHash, tokenHash)))
        .where(and(eq(users.id, id), isAwaited));
      if (!held) throw tokenInvalid();
      await tx
        .update(users)
        .set({ email: held.pendingEmail, updatedAt: sql`now()` })
        .where(eq(users.id, id));
      await endLinksOf(tx, id);
      await queueEmailNotice(tx, emailChangedMail, { id, tenantId, email: held.email });
      await recordAudit(
        tx,
        { actor: account, ip: system.ip },
        {
          action: 'auth.email_changed',
          tenantId,
          target: { type: 'user', id },
          summary: `${username} confirmed a new e-mail address.`,
        },
      );
    });
  } catch (error) {
    if (violatedConstraint(error) === 'users_email_unique') throw tokenInvalid(error);
    throw error;
  }
  void nudgeMails(system, tenantId);
}

const tokenInvalid = (cause?: unknown) =>
  invalid('TOKEN_INVALID', 'This link is not valid any more. Please enter the address again.', { cause });
