import { and, eq, isNull } from 'drizzle-orm';
import { users } from '@portal/db/schema/users';
import { normalizeUsername } from '@portal/domain/accounts';
import { notFound } from '@portal/domain/errors';
import { recordAudit } from '../audit/record-audit.ts';
import type { Visit } from '../run/context.ts';
import { makePassword } from './admin-reset-password.ts';
import { setPassword } from './set-password.ts';

/**
 * The way back in for whoever runs the server: gives a local account of any tenant a temporary password, answered this once.
 * The account is not activated by it. Throws 404 for an unknown username and for a directory account.
 */
export async function operatorResetPassword(visit: Visit, username: string): Promise<{ temporaryPassword: string }> {
  const temporaryPassword = makePassword();
  const hash = await visit.passwords.hash(temporaryPassword);
  await visit.acrossTenants('an operator resets a password by name', async (tx) => {
    const [account] = await tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username })
      .from(users)
      .where(and(eq(users.username, normalizeUsername(username)), isNull(users.ldapDn)))
      .for('update');
    if (!account) throw notFound();
    await setPassword(tx, account.id, { hash, mustChange: true });
    await recordAudit(tx, visit, {
      action: 'users.reset_password',
      tenantId: account.tenantId,
      target: { type: 'user', id: account.id },
      summary: `An operator set a temporary password for ${account.username} on the server.`,
    });
  });
  return { temporaryPassword };
}
