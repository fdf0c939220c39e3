import { and, eq, ne } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import type { UserContext } from '@portal/platform/context';
import type { Runtime } from '@portal/platform/runtime';
import { firstAdminName } from '@portal/usecases/accounts/first-admin';
import { createTenant } from '@portal/usecases/tenants/tenants';
import { accountOf, as, firstSuperAdmin } from './act.ts';
import { fillBooks } from './books.ts';
import { fillDashboards } from './dashboards.ts';
import { fillDirectory } from './directory.ts';
import { type people, tenantName } from './made-up.ts';
import { fillModules } from './modules.ts';
import { fillPeople } from './people.ts';
import type { Systems } from './systems.ts';
import { fillTenders } from './tenders.ts';
import { fillWatched } from './watched.ts';

type Username = (typeof people)[number]['username'];

/** Input of the part for an area. Each part can run repeatedly: it adds what is missing and leaves the rest. */
export interface Demo {
  runtime: Runtime;
  systems: Systems;
  tenantId: string;
  /** Runs `work` as a person of the demo. */
  as<T>(username: Username, work: (ctx: UserContext) => Promise<T>): Promise<T>;
}

/** One part for each area, in order of dependency. Add the part of a new area here. */
const parts: ((demo: Demo) => Promise<void>)[] = [
  fillModules,
  fillDirectory,
  fillWatched,
  fillBooks,
  fillTenders,
  fillDashboards,
];

/** The database has accounts of other tenants. A second `--force` adds the demo all the same. */
export class OtherTenantsError extends Error {
  override name = 'OtherTenantsError';
}

/**
 * Creates the demo tenant with its data, or adds what is missing. Everything goes through the use cases, so the demo follows each change of
 * a rule and needs no SQL of its own.
 */
export async function fillDemo(
  runtime: Runtime,
  systems: Systems,
  { password, isForced }: { password: string; isForced: boolean },
): Promise<{ tenantId: string; isNew: boolean }> {
  if (!isForced) await expectNoOtherAccounts(runtime);
  const superAdmin = await firstSuperAdmin(runtime);
  const known = await tenantOfDemo(runtime);
  const tenantId = await as(runtime, superAdmin, async (ctx) => {
    const id = known ?? (await createTenant(ctx, { name: tenantName, isActive: true })).id;
    await fillPeople(ctx, id, password);
    return id;
  });
  const demo: Demo = {
    runtime,
    systems,
    tenantId,
    as: async (username, work) => as(runtime, await accountOf(runtime, tenantId, username), work),
  };
  for (const part of parts) await part(demo);
  return { tenantId, isNew: known === null };
}

export async function tenantOfDemo({ database }: Runtime): Promise<string | null> {
  const [found] = await database.acrossTenants('the demo looks for its tenant', (tx) =>
    tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.name, tenantName)),
  );
  return found?.id ?? null;
}

/** Throws if another tenant has an account other than the first administrator of a new database. */
async function expectNoOtherAccounts({ database }: Runtime): Promise<void> {
  const [other] = await database.acrossTenants('the demo looks for accounts of other tenants', (tx) =>
    tx
      .select({ tenant: tenants.name })
      .from(users)
      .innerJoin(tenants, eq(tenants.id, users.tenantId))
      .where(and(ne(tenants.name, tenantName), ne(users.username, firstAdminName)))
      .limit(1),
  );
  if (other === undefined) return;
  throw new OtherTenantsError(
    `This database has accounts of other tenants, for example of ${other.tenant}. The demo also adds tenders that every tenant sees.`,
  );
}
