import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases/releases';
import { isTemporaryPasswordExpired } from './account-columns.ts';
import { temporaryPasswordUntil } from './passwords.ts';

export const firstAdminName = 'admin';

/** Creates the SUPER_ADMIN of an empty database. The user must change the password at the first sign-in. */
export async function addFirstAdmin(
  tx: Tx,
  { tenantId, passwordHash, release }: { tenantId: string; passwordHash: string; release: string },
): Promise<void> {
  await tx.insert(users).values({
    id: newId(),
    tenantId,
    username: firstAdminName,
    passwordHash,
    role: 'SUPER_ADMIN',
    mustChangePassword: true,
    temporaryPasswordUntil,
    lastSeenReleaseVersion: firstSeenRelease(release),
  });
}

/** The id of the first administrator if it is the only account and its temporary password has expired unused. */
export async function unclaimedFirstAdmin(tx: Tx): Promise<string | undefined> {
  const [only, another] = await tx
    .select({ id: users.id, username: users.username, isExpired: isTemporaryPasswordExpired })
    .from(users)
    .limit(2);
  return !another && only?.username === firstAdminName && only.isExpired ? only.id : undefined;
}
