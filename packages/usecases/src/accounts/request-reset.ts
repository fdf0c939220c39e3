import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNotNull, isNull, or } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { normalizeUsername } from '@portal/domain/accounts/accounts';
import { newId } from '@portal/domain/ids';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails, queueMail } from '@portal/platform/outbox/queue-mail';
import { type RateLimit, consume } from '@portal/platform/rate-limit';
import { recordAudit } from './audit.ts';
import { passwordResetMail } from './mails/password-reset.ts';

const perAccount: RateLimit = { name: 'reset per account', max: 3, windowSec: 60 * 60 };
const perAddress: RateLimit = { name: 'reset per address', max: 20, windowSec: 60 * 60 };

// Writing a mail's row takes about a millisecond more than writing none; both take less than this.
const answerAfterMs = 25;

/**
 * Promises a reset mail to the active local account with this username or e-mail, if there is one and it has an address.
 * Says nothing about which of these was the case, neither in its answer nor by its time; beyond the limits it silently does nothing.
 */
export async function requestReset(
  system: SystemContext,
  request: { identifier: string; language: 'de' | 'en' },
): Promise<void> {
  await Promise.all([promiseMail(system, request), pause(answerAfterMs)]);
}

async function promiseMail(
  system: SystemContext,
  request: { identifier: string; language: 'de' | 'en' },
): Promise<void> {
  const identifier = normalizeUsername(request.identifier);
  const tenantId = await system.acrossTenants('a reset request names no tenant', async (tx) => {
    const candidates = await tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username, email: users.email })
      .from(users)
      .innerJoin(tenants, and(eq(tenants.id, users.tenantId), eq(tenants.isActive, true)))
      .where(
        and(
          or(eq(users.username, identifier), eq(users.email, identifier)),
          eq(users.isActive, true),
          isNull(users.ldapDn),
          isNotNull(users.email),
        ),
      );
    // Anybody may be given a username that looks like somebody's address, but only its owner is behind an address.
    const account = candidates.find(({ email }) => email === identifier) ?? candidates[0];
    // In this order: an address beyond its limit uses up nobody's account.
    if (!(await consume(tx, perAddress, system.ip ?? ''))) return null;
    if (!(await consume(tx, perAccount, account?.id ?? identifier)) || !account) return null;
    await queueMail(tx, passwordResetMail, {
      tenantId: account.tenantId,
      key: `accounts/password-reset/${newId()}`,
      userId: account.id,
      data: { language: request.language },
    });
    await recordAudit(tx, system, {
      action: 'auth.reset_requested',
      tenantId: account.tenantId,
      target: { type: 'user', id: account.id },
      summary: `A password reset was requested for ${account.username}.`,
    });
    return account.tenantId;
  });
  // Not awaited: the answer takes the same time whether or not there is somebody to write to.
  if (tenantId) void nudgeMails(system, tenantId);
}
