import { sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import { openDatabase } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';
import type { Config } from '@portal/platform/config';
import { addFirstAdmin, firstAdminName as username, forsakenAdmin } from '../accounts/first-admin.ts';
import { openPasswordHashing } from '../accounts/password-hashing.ts';
import { setPassword } from '../accounts/passwords.ts';
import { makePassword } from '../accounts/temporary-passwords.ts';

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
      // Of several first starts at once, one seeds.
      await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.seed})`);
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
      await addFirstAdmin(tx, { tenantId, passwordHash, release: config.release.version });
      return { username, generatedPassword: generated, created: true };
    });
  } finally {
    await database.close();
  }
}
