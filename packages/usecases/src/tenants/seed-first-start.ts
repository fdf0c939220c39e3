import { sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import { openDatabase } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import type { Config } from '@portal/platform/config';
import { addFirstAdmin, firstAdminName as username, unclaimedFirstAdmin } from '../accounts/first-admin.ts';
import { openPasswordHashing } from '../accounts/password-hashing.ts';
import { setPassword } from '../accounts/passwords.ts';
import { makePassword } from '../accounts/temporary-passwords.ts';

/**
 * Creates the tenant `Default` and the SUPER_ADMIN `admin` in an empty database; `admin` must change the password at the first sign-in.
 * Returns the generated password once and stores it nowhere. Like every temporary password it is valid for seven days, because it may
 * lie around in the logs of an unused installation. If `admin` is then still the only account, the next start sets a new password, so
 * that a late operator can still sign in.
 */
export async function seedFirstStart(
  config: Config,
): Promise<{ username: string; generatedPassword: string | null; created: boolean }> {
  const database = openDatabase({ url: config.database.url.reveal(), poolMax: 1, applicationName: 'portal-seed' });
  try {
    return await database.acrossTenants('the first start of an empty database', async (tx) => {
      // Of several concurrent first starts, only one seeds.
      await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.seed})`);
      const [existing] = await tx.select({ id: tenants.id }).from(tenants).limit(1);
      const unclaimed = existing && (await unclaimedFirstAdmin(tx));
      if (existing && !unclaimed) return { username, generatedPassword: null, created: false };
      const generated = config.seedAdminPassword === null ? makePassword() : null;
      const passwordHash = await openPasswordHashing().hash(generated ?? config.seedAdminPassword?.reveal() ?? '');
      if (unclaimed) {
        await setPassword(tx, unclaimed, { hash: passwordHash, mustChange: true });
        return { username, generatedPassword: generated, created: true };
      }
      const tenantId = newId();
      await tx.insert(tenants).values({ id: tenantId, name: 'Default' });
      await addFirstAdmin(tx, { tenantId, passwordHash, release: config.release.version });
      return { username, generatedPassword: generated, created: true };
    });
  } finally {
    await database.close();
  }
}
