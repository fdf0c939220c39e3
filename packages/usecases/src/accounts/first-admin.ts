import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases/releases';
import { isTemporaryPasswordOver } from './account-columns.ts';
import { temporaryPasswordUntil } from './passwords.ts';

export const firstAdminName = 'admin';

/** Makes the SUPER_ADMIN of an empty database, who must change the password at the first sign-in. */
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

/** The first administrator, while nobody else is there and the password that was given came to nothing. */
export async function forsakenAdmin(tx: Tx): Promise<string | undefined> {
  const [only, another] = await tx
    .select({ id: users.id, username: users.username, isOver: isTemporaryPasswordOver })
    .from(users)
    .limit(2);
  return !another && only?.username === firstAdminName && only.isOver ? only.id : undefined;
}
