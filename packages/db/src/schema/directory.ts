import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant, tenantColumns, tenantPolicies, tenantRules } from './columns.ts';
import { runs } from './platform/operations.ts';
import { tenants } from './tenants.ts';

/** Where a tenant's directory is and what of it comes into the portal, one row per tenant. */
export const ldapConfigs = pgTable(
  'ldap_configs',
  {
    ...tenantColumns,
    serverUrl: text().notNull(),
    startTls: boolean().notNull().default(false),
    baseDn: text().notNull(),
    bindDn: text(),
    /** Sealed: see packages/platform/src/secrets. */
    bindPassword: text(),
    userFilter: text(),
    syncIntervalMin: integer().notNull(),
    isActive: boolean().notNull().default(true),
    /** Groups whose members, and organizational units whose entries come in; empty is everything under the base. */
    includeDns: text().array().notNull().default([]),
    userExcludeList: text().array().notNull().default([]),
    skipTlsVerify: boolean().notNull().default(false),
    caCertificatePem: text(),
    /** When the next run starts by itself; null while switched off. */
    nextSyncAt: instant(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('ldap_configs_tenant_unique').on(t.tenantId),
    index('ldap_configs_due')
      .on(t.nextSyncAt)
      .where(sql`next_sync_at is not null`),
    check('ldap_configs_interval', sql`${t.syncIntervalMin} between 5 and 10080`),
    ...tenantRules(t, tenants),
  ],
);

export const ldapField = pgEnum('ldap_field', ['username', 'email', 'displayName', 'firstName', 'lastName']);

/** Which attribute of the directory fills which field of an account; custom ones go before the defaults. */
export const ldapMappings = pgTable(
  'ldap_mappings',
  {
    ...tenantColumns,
    ldapAttribute: text().notNull(),
    field: ldapField().notNull(),
    isDefault: boolean().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('ldap_mappings_unique').on(t.tenantId, sql`lower(${t.ldapAttribute})`, t.field),
    ...tenantRules(t, tenants),
  ],
);

export const ldapSyncTrigger = pgEnum('ldap_sync_trigger', ['manual', 'schedule']);

/** What a synchronization did; how it stands (state, progress, error) is in the run of the same id. */
export const ldapSyncRuns = pgTable(
  'ldap_sync_runs',
  {
    ...tenantColumns,
    trigger: ldapSyncTrigger().notNull(),
    /** Failed because it would have switched off too many accounts. */
    isBlocked: boolean().notNull().default(false),
    counts: jsonb().notNull().default({}),
    warnings: jsonb().notNull().default([]),
    createdAt: createdAt(),
  },
  (t) => [
    index('ldap_sync_runs_newest').on(t.tenantId, t.id.desc()),
    foreignKey({ columns: [t.tenantId, t.id], foreignColumns: [runs.tenantId, runs.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/**
 * The entries of a directory that a sync run or a preview has read and not yet applied. Unlogged, which only the
 * migration can say: a crash of the server empties the table, and whoever works with it makes sure that it has not.
 */
export const ldapStagedEntries = pgTable(
  'ldap_staged_entries',
  {
    tenantId: uuid().notNull(),
    /** The run that reads, or an id of its own for a preview. */
    runId: uuid().notNull(),
    /** Which try of the run: one that was given up may still be writing. */
    attempt: integer().notNull(),
    directoryId: text().notNull(),
    /** Whether the person may come in (`live`), and if not, why. */
    standing: text().notNull(),
    ldapDn: text().notNull(),
    username: text(),
    email: text(),
    hasBadEmail: boolean().notNull(),
    displayName: text(),
    firstName: text(),
    lastName: text(),
    /** Positions in the list of groups that the run holds. */
    groups: integer().array().notNull(),
    stagedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.attempt, t.directoryId] }),
    index('ldap_staged_entries_staged').on(t.stagedAt),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
