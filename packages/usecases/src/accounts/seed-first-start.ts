import { sql } from 'drizzle-orm';
import { openDatabase, type Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases/releases';
import type { Config } from '@portal/platform/config';
import { isTemporaryPasswordOver } from './account-columns.ts';
import { makePassword } from './admin-reset-password.ts';
import { openPasswordHashing } from './password-hashing.ts';
import { setPassword, temporaryPasswordUntil } from './set-password.ts';

const username = 'admin';
// Any constant of its own does: of several first starts at once, one seeds.
const seedLock = 5_150_331;

/**
 * On an empty database makes the tenant `Default` and the SUPER_ADMIN `admin`, who must change the password at the first sign-in.
 * The generated password is answered this once and kept nowhere. Like every temporary one it is good for seven days, because an
 * installation that nobody has taken charge of is the one where it lies about; while that account is still the only one, a start
 * after that time makes a new one, so that nobody who comes late is locked out.
 */
export async function seedFirstStart(
  config: Config,
): Promise<{ username: string; generatedPassword: string | null; created: boolean }> {
  const database = openDatabase({ url: config.database.url.reveal(), poolMax: 1, applicationName: 'portal-seed' });
  try {
    return await database.acrossTenants('the first start of an empty database', async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${seedLock})`);
      const [existing] = await tx.select({ id: tenants.id }).from(tenants).limit(1);
      const forsaken = existing && (await forsakenAdmin(tx));
      if (existing && !forsaken) return { username, generatedPassword: null, created: false };
      const generated = config.seedAdminPassword === null ? makePassword() : null;
      const passwordHash = await openPasswordHashing().hash(generated ?? config.seedAdminPassword?.reveal() ?? '');
      if (forsaken) {
        await setPassword(tx, forsaken, { hash: passwordHash, mustChange: true });
        return { username, generatedPassword: generated, created: true };
      }
      const tenantId = newId();
      await tx.insert(tenants).values({ id: tenantId, name: 'Default' });
      await tx.insert(users).values({
        id: newId(),
        tenantId,
        username,
        passwordHash,
        role: 'SUPER_ADMIN',
        mustChangePassword: true,
        temporaryPasswordUntil,
        lastSeenReleaseVersion: firstSeenRelease(config.release.version),
      });
      return { username, generatedPassword: generated, created: true };
    });
  } finally {
    await database.close();
  }
}

/** The first administrator, while nobody else is there and the password that was given came to nothing. */
async function forsakenAdmin(tx: Tx): Promise<string | undefined> {
  const [only, another] = await tx
    .select({ id: users.id, username: users.username, isOver: isTemporaryPasswordOver })
    .from(users)
    .limit(2);
  return !another && only?.username === username && only.isOver ? only.id : undefined;
}
