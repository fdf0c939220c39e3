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
import { createdAt, identifier, instant, tenantColumns, tenantPolicies, tenantRules } from './columns.ts';
import { runs } from './platform/operations.ts';
import { tenants } from './tenants.ts';

/** The directory settings of a tenant, one row per tenant. */
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
    /** Groups and organizational units to synchronize; an empty list means everything below the base. */
    includeDns: text().array().notNull().default([]),
    userExcludeList: text().array().notNull().default([]),
    skipTlsVerify: boolean().notNull().default(false),
    caCertificatePem: text(),
    /** When the scheduler starts the next run; null while switched off. */
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

/** Maps directory attributes to account fields. Custom mappings take precedence over the defaults. */
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

/** The results of a synchronization. The run with the same id holds state, progress and error. */
export const ldapSyncRuns = pgTable(
  'ldap_sync_runs',
  {
    ...tenantColumns,
    trigger: ldapSyncTrigger().notNull(),
    /** The run failed because it would have switched off too many accounts. */
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
 * Directory entries that a run or preview has read but not yet applied. The table is unlogged (only the migration can declare that):
 * a crash of the database server empties it, so every reader checks that its rows are still there.
 */
export const ldapStagedEntries = pgTable(
  'ldap_staged_entries',
  {
    tenantId: uuid().notNull(),
    /** The id of the run, or a new id for a preview. */
    runId: uuid().notNull(),
    /** The attempt of the run. An abandoned attempt may still be writing. */
    attempt: integer().notNull(),
    directoryId: identifier().notNull(),
    /** `live` if the person may have an account, otherwise the reason why not. */
    standing: text().notNull(),
    ldapDn: text().notNull(),
    username: text(),
    email: text(),
    hasBadEmail: boolean().notNull(),
    displayName: text(),
    firstName: text(),
    lastName: text(),
    /** Positions in the run's list of groups. */
    groups: integer().array().notNull(),
    stagedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.attempt, t.directoryId] }),
    index('ldap_staged_entries_staged').using('brin', t.stagedAt),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
