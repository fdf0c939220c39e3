import { index, integer, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { createdAt, instant, tenantColumns, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const merchandiseFormat = pgEnum('merchandise_format', ['txt', 'extf']);

/** How a tenant's merchandise is exported; without a row the defaults apply. */
export const merchandiseSettings = pgTable(
  'merchandise_settings',
  {
    ...tenantColumns,
    format: merchandiseFormat().notNull(),
    separator: text().notNull(),
    defaultContraAccount: text().notNull(),
    beraternummer: text().notNull(),
    mandantennummer: text().notNull(),
    fiscalYearStart: text().notNull(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [uniqueIndex('merchandise_settings_tenant_unique').on(t.tenantId), ...tenantRules(t, tenants)],
);

/** Counts the changes to a tenant's account list; no row means it was never changed. */
export const merchandiseLists = pgTable(
  'merchandise_lists',
  { ...tenantColumns, version: integer().notNull() },
  (t) => [uniqueIndex('merchandise_lists_tenant_unique').on(t.tenantId), ...tenantRules(t, tenants)],
);

export const merchandiseAccounts = pgTable(
  'merchandise_accounts',
  {
    ...tenantColumns,
    number: text().notNull(),
    name: text().notNull(),
    /** The normalized name, which account lists compare. */
    nameKey: text().notNull(),
  },
  (t) => [
    uniqueIndex('merchandise_accounts_number_unique').on(t.tenantId, t.number),
    uniqueIndex('merchandise_accounts_name_unique').on(t.tenantId, t.nameKey),
    ...tenantRules(t, tenants),
  ],
);

export const merchandiseChangeKind = pgEnum('merchandise_change_kind', ['added', 'changed', 'removed']);

/** The changes in each version of the list, for users who edited an earlier one. */
export const merchandiseChanges = pgTable(
  'merchandise_changes',
  {
    ...tenantColumns,
    version: integer().notNull(),
    kind: merchandiseChangeKind().notNull(),
    number: text().notNull(),
    name: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('merchandise_changes_version').on(t.tenantId, t.version),
    index('merchandise_changes_created').on(t.createdAt),
    ...tenantRules(t, tenants),
  ],
);
