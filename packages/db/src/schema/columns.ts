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

/** Every connection of the apps starts as this role: it owns nothing, cannot bypass policies, and sees one tenant at a time. */
export const appRole = pgRole('portal_app').existing();
/** A cross-tenant scope takes on this role for one transaction. */
export const acrossRole = pgRole('portal_across').existing();

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
export const tsquery = customType<{ data: string }>({ dataType: () => 'tsquery' });
/** An identifier from another system. The database compares it byte by byte: no list is in its order, and the German order costs more. */
export const identifier = customType<{ data: string }>({ dataType: () => 'text collate "C"' });

export const instant = () => timestamp({ withTimezone: true, precision: 3 });
export const createdAt = () => instant().notNull().defaultNow();

// A sub-select reads the setting once per statement, so an index on the tenant still works.
// Without the setting the statement fails instead of finding everything.
export const currentTenant = sql`(select current_setting('portal.tenant')::uuid)`;

/** Null in a scope that names no account; such a scope sees no rows that belong to an account. */
export const currentAccount = sql`(select nullif(current_setting('portal.account', true), '')::uuid)`;

const acrossPolicy = () => pgPolicy('across', { to: acrossRole, using: sql`true`, withCheck: sql`true` });

/** One policy for the current tenant and one for cross-tenant scopes; row security denies everything else. */
export const tenantPolicies = (column: AnyPgColumn) => [
  pgPolicy('tenant', {
    to: appRole,
    using: sql`${column} = ${currentTenant}`,
    withCheck: sql`${column} = ${currentTenant}`,
  }),
  acrossPolicy(),
];

/**
 * Rules of a platform table: tenants read all rows, or those for which `visible` is true, and only cross-tenant scopes write. Where the
 * apps' role has only a policy for reading, the migration revokes its right to write.
 */
export const platformRules = (visible: SQL = sql`true`) => [
  pgPolicy('tenant', { for: 'select', to: appRole, using: visible }),
  acrossPolicy(),
];

/** Every tenant-owned table begins with these columns. */
export const tenantColumns = {
  id: uuid().primaryKey(),
  tenantId: uuid().notNull(),
};

/** Every tenant-owned table ends with these rules: the tenant exists, (tenant, id) can be referenced, rows stay within the tenant. */
export const tenantRules = (table: { id: AnyPgColumn; tenantId: AnyPgColumn }, tenants: { id: AnyPgColumn }) => [
  unique(`${getTableName(table.id.table)}_tenant_id_id_unique`).on(table.tenantId, table.id),
  foreignKey({ columns: [table.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
  ...tenantPolicies(table.tenantId),
];
