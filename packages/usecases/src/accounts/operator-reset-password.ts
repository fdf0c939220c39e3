import { and, eq, isNull, or, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { normalizeUsername } from '@portal/domain/accounts/accounts';
import { notFound } from '@portal/domain/errors';
import type { SystemContext } from '@portal/platform/context';
import { leaveImportedGroups } from '../modules/imported-groups.ts';
import { makePassword } from './admin-reset-password.ts';
import { recordAudit } from './audit.ts';
import { passwordHashing } from './password-hashing.ts';
import { setPassword } from './passwords.ts';

/**
 * The way back in for whoever runs the server: gives a local account of any tenant a temporary password, answered this once.
 * The account is not activated by it. A SUPER_ADMIN from a directory becomes a local account. Throws 404 for an unknown username and
 * for any other directory account.
 */
export async function operatorResetPassword(
  system: SystemContext,
  username: string,
): Promise<{ temporaryPassword: string; wasInDirectory: boolean }> {
  const temporaryPassword = makePassword();
  const hash = await passwordHashing(system).hash(temporaryPassword);
  const wasInDirectory = await system.acrossTenants('an operator resets a password by name', async (tx) => {
    const [account] = await tx
      .select({ id: users.id, tenantId: users.tenantId, username: users.username, ldapDn: users.ldapDn })
      .from(users)
      .where(
        and(
          eq(users.username, normalizeUsername(username)),
          or(isNull(users.ldapDn), sql`${users.role} = 'SUPER_ADMIN'`),
        ),
      )
      .for('update');
    if (!account) throw notFound();
    const isOfDirectory = account.ldapDn !== null;
    if (isOfDirectory) await takeFromDirectory(tx, account.id);
    await setPassword(tx, account.id, { hash, mustChange: true });
    await recordAudit(tx, system, {
      action: 'users.reset_password',
      tenantId: account.tenantId,
      target: { type: 'user', id: account.id },
      summary: `An operator set a temporary password for ${account.username} on the server.${
        isOfDirectory ? ' The account belongs to the directory no more, and its e-mail address was taken off.' : ''
      }`,
    });
    return isOfDirectory;
  });
  return { temporaryPassword, wasInDirectory };
}

/** Makes the account a local one. What its directory said of it goes, too: to that address a reset link would be sent. */
async function takeFromDirectory(tx: Tx, userId: string): Promise<void> {
  await tx
    .update(users)
    .set({ ldapDn: null, directoryId: null, deactivatedBySync: false, email: null })
    .where(eq(users.id, userId));
  await leaveImportedGroups(tx, userId);
}
