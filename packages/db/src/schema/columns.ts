import { getTableName, type SQL, sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  customType,
  foreignKey,
  pgPolicy,
  pgRole,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';

/** The role every connection of the apps starts as: owns nothing, cannot bypass policies, sees one tenant at a time. */
export const appRole = pgRole('portal_app').existing();
/** The role a named cross-tenant scope takes on for the length of one transaction. */
export const acrossRole = pgRole('portal_across').existing();

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
export const tsquery = customType<{ data: string }>({ dataType: () => 'tsquery' });

export const instant = () => timestamp({ withTimezone: true, precision: 3 });
export const createdAt = () => instant().notNull().defaultNow();

// In a sub-select the setting is read once per statement, so an index on the tenant still serves.
// Without the setting the statement fails instead of finding everything.
export const currentTenant = sql`(select current_setting('portal.tenant')::uuid)`;

/** Null in a scope that names no account: what belongs to one is then seen by nobody. */
export const currentAccount = sql`(select nullif(current_setting('portal.account', true), '')::uuid)`;

const acrossPolicy = () => pgPolicy('across', { to: acrossRole, using: sql`true`, withCheck: sql`true` });

/** One policy for the tenant at work, one for named cross-tenant scopes; everything else is denied by row security itself. */
export const tenantPolicies = (column: AnyPgColumn) => [
  pgPolicy('tenant', {
    to: appRole,
    using: sql`${column} = ${currentTenant}`,
    withCheck: sql`${column} = ${currentTenant}`,
  }),
  acrossPolicy(),
];

/**
 * Rules of a table that is no tenant's: every tenant reads its rows, all of them or those that `visible` is true of for the tenant at
 * work, and only named cross-tenant scopes write. The migration takes the right to write from the apps' role wherever it finds
 * that role with nothing but a policy for reading.
 */
export const platformRules = (visible: SQL = sql`true`) => [
  pgPolicy('tenant', { for: 'select', to: appRole, using: visible }),
  acrossPolicy(),
];

/** Columns every tenant-owned table begins with. */
export const tenantColumns = {
  id: uuid().primaryKey(),
  tenantId: uuid().notNull(),
};

/** Rules every tenant-owned table ends with: the tenant exists, (tenant, id) can be pointed at, rows stay within the tenant. */
export const tenantRules = (table: { id: AnyPgColumn; tenantId: AnyPgColumn }, tenants: { id: AnyPgColumn }) => [
  unique(`${getTableName(table.id.table)}_tenant_id_id_unique`).on(table.tenantId, table.id),
  foreignKey({ columns: [table.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
  ...tenantPolicies(table.tenantId),
];
