import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import type { AccountPlan } from '@portal/domain/directory/plan';
import { newId } from '@portal/domain/ids';
import { firstSeenRelease } from '@portal/domain/releases/releases';
import type { TenantContext } from '@portal/platform/context';

/**
 * Selects accounts by their ids (one array parameter), except SUPER_ADMINs. That includes accounts promoted since the run decided: a
 * statement that waited for the promotion evaluates this condition again.
 */
const mayBeWritten = (ids: string[]): SQL => sql`u.id = any(${sql.param(ids)}::uuid[]) and u.role <> 'SUPER_ADMIN'`;

type Creation = Extract<AccountPlan, { kind: 'create' }>;
type Update = Extract<AccountPlan, { kind: 'update' }>;

/** Creates the accounts. Throws the error of the unique index if another account has just taken a name. */
export async function createAccounts(tx: Tx, ctx: TenantContext, plans: Creation[]): Promise<number> {
  if (plans.length === 0) return 0;
  const accounts = plans.map(({ values }) => ({ id: newId(), ...values }));
  const { rowCount } = await tx.execute(sql`
    insert into ${users} (id, tenant_id, username, email, display_name, first_name, last_name, ldap_dn, directory_id,
      last_seen_release_version)
    select a.id, ${ctx.tenantId}::uuid, a.username, a.email, a."displayName", a."firstName", a."lastName", a."ldapDn", a."directoryId",
      ${firstSeenRelease(ctx.config.release.version)}::text
    from json_to_recordset(${JSON.stringify(accounts)}::json) as a(id uuid, username text, email text, "displayName" text,
      "firstName" text, "lastName" text, "ldapDn" text, "directoryId" text)`);
  return rowCount ?? 0;
}

/**
 * Changes the accounts. With `areSwaps` they exchange names, so all of them give up their old names first. Throws the error of the
 * unique index if another account has just taken a name.
 */
export async function updateAccounts(tx: Tx, plans: Update[], { areSwaps }: { areSwaps: boolean }): Promise<void> {
  if (plans.length === 0) return;
  const ids = plans.map(({ account }) => account.id);
  // Usernames never contain control characters, so these temporary names are free.
  if (areSwaps)
    await tx.execute(
      sql`update ${users} u set username = chr(1) || u.id::text, email = null where ${mayBeWritten(ids)}`,
    );
  const changes = plans.map(({ account, values, isReactivated }) => ({ id: account.id, isReactivated, ...values }));
  await tx.execute(sql`
    update ${users} u set username = a.username, email = a.email, display_name = a."displayName", first_name = a."firstName",
      last_name = a."lastName", ldap_dn = a."ldapDn", directory_id = a."directoryId", updated_at = now(),
      is_active = u.is_active or (a."isReactivated" and u.deactivated_by_sync),
      deactivated_by_sync = u.deactivated_by_sync and not a."isReactivated"
    from json_to_recordset(${JSON.stringify(changes)}::json) as a(id uuid, "isReactivated" boolean, username text, email text,
      "displayName" text, "firstName" text, "lastName" text, "ldapDn" text, "directoryId" text)
    where u.id = a.id and u.role <> 'SUPER_ADMIN'`);
}

/** Deactivates those of the accounts that are still active. */
export async function deactivateAccounts(tx: Tx, ids: string[]): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    update ${users} u set is_active = false, deactivated_by_sync = true, updated_at = now()
    where ${mayBeWritten(ids)} and u.is_active and u.ldap_dn is not null`);
  return rowCount ?? 0;
}

/** The SUPER_ADMINs among the accounts, which the statements above leave unchanged. */
export async function superAdminsAmong(tx: Tx, ids: string[]): Promise<Set<string>> {
  const { rows } = await tx.execute<{ id: string }>(
    sql`select u.id from ${users} u where u.id = any(${sql.param(ids)}::uuid[]) and u.role = 'SUPER_ADMIN'`,
  );
  return new Set(rows.map(({ id }) => id));
}
