import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/users';
import type { AccountPlan } from '@portal/domain/directory-plan';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases';
import { activeSuperAdmins } from '../accounts/administer.ts';
import type { TenantCtx } from '../run/context.ts';

/** One parameter, whatever their number. */
const hasId = (ids: string[]): SQL => sql`${users.id} = any(${sql.param(ids)}::uuid[])`;

type Creation = Extract<AccountPlan, { kind: 'create' }>;
type Update = Extract<AccountPlan, { kind: 'update' }>;

/** Makes the accounts and answers the directory ids of those made: somebody may have taken a name a moment ago. */
export async function createAccounts(tx: Tx, ctx: TenantCtx, plans: Creation[]): Promise<Set<string>> {
  if (plans.length === 0) return new Set();
  const accounts = plans.map(({ values }) => ({ id: newId(), ...values }));
  const { rows } = await tx.execute<{ id: string }>(sql`
    insert into ${users} (id, tenant_id, username, email, display_name, first_name, last_name, ldap_dn, directory_id,
      last_seen_release_version)
    select a.id, ${ctx.tenantId}::uuid, a.username, a.email, a."displayName", a."firstName", a."lastName", a."ldapDn", a."directoryId",
      ${firstSeenRelease(ctx.config.release.version)}::text
    from json_to_recordset(${JSON.stringify(accounts)}::json) as a(id uuid, username text, email text, "displayName" text,
      "firstName" text, "lastName" text, "ldapDn" text, "directoryId" text)
    on conflict do nothing
    returning directory_id as id`);
  return new Set(rows.map(({ id }) => id));
}

/**
 * Changes the accounts. `areMovers`: they give each other names, so all of them let go of theirs first. Throws the unique index's
 * error when somebody took a name a moment ago.
 */
export async function updateAccounts(tx: Tx, plans: Update[], { areMovers }: { areMovers: boolean }): Promise<void> {
  if (plans.length === 0) return;
  const ids = plans.map(({ account }) => account.id);
  if (areMovers) {
    // No username has a control character, so nobody holds these for the moment they are needed.
    await tx
      .update(users)
      .set({ username: sql`chr(1) || ${users.id}::text`, email: null })
      .where(hasId(ids));
  }
  const changes = plans.map(({ account, values, isReactivated }) => ({ id: account.id, isReactivated, ...values }));
  await tx.execute(sql`
    update ${users} u set username = a.username, email = a.email, display_name = a."displayName", first_name = a."firstName",
      last_name = a."lastName", ldap_dn = a."ldapDn", directory_id = a."directoryId", updated_at = now(),
      is_active = u.is_active or (a."isReactivated" and u.deactivated_by_sync),
      deactivated_by_sync = u.deactivated_by_sync and not a."isReactivated"
    from json_to_recordset(${JSON.stringify(changes)}::json) as a(id uuid, "isReactivated" boolean, username text, email text,
      "displayName" text, "firstName" text, "lastName" text, "ldapDn" text, "directoryId" text)
    where u.id = a.id`);
}

/** Switches off those of the accounts that are still on, and says how many it were. */
export async function deactivateAccounts(tx: Tx, ids: string[]): Promise<number> {
  const { rowCount } = await tx
    .update(users)
    .set({ isActive: false, deactivatedBySync: true, updatedAt: sql`now()` })
    .where(and(hasId(ids), eq(users.isActive, true), isNotNull(users.ldapDn)));
  return rowCount ?? 0;
}

/**
 * The same for one SUPER_ADMIN, in a transaction that sees every tenant; false when it is the last active one and stays.
 * Whoever else takes a SUPER_ADMIN away waits meanwhile.
 */
export async function deactivateSuperAdmin(tx: Tx, id: string): Promise<boolean> {
  if ((await activeSuperAdmins(tx)) <= 1) return false;
  await deactivateAccounts(tx, [id]);
  return true;
}
