import { sql } from 'drizzle-orm';
import {
  bigint,
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
import { bytea, createdAt, instant, tenantColumns, tenantPolicies, tenantRules } from './columns.ts';
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
 * The entries of a directory that a sync run or a preview has read and not yet applied: whoever the snapshot does not vouch for.
 * Unlogged, which only the migration can say: a crash of the server empties the table, and whoever works with it makes sure that
 * it has not.
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
    /** In base64. */
    fingerprint: text().notNull(),
    belonging: text().notNull(),
    expiresAt: instant(),
    stagedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.attempt, t.directoryId] }),
    index('ldap_staged_entries_staged').on(t.stagedAt),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** What the last successful sync run of a tenant read its directory by, and how it found the groups. */
export const ldapSnapshots = pgTable(
  'ldap_snapshots',
  {
    tenantId: uuid().primaryKey(),
    /** A hash of everything but the entries that decides what becomes of them: mappings, filter, lists, release. */
    settingsHash: text().notNull(),
    /** The same for the same groups with the same members. */
    groupsDigest: text().notNull(),
    takenAt: instant().notNull().defaultNow(),
  },
  (t) => [
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/**
 * How each entry of the directory was found then, and what its account was to be. Rows may go missing at any time, and being
 * unlogged they do in a crash of the server: the next sync run then compares these people with their accounts.
 */
export const ldapSnapshotEntries = pgTable(
  'ldap_snapshot_entries',
  {
    tenantId: uuid().notNull(),
    directoryId: text().notNull(),
    /** A hash of the entry's bytes. */
    fingerprint: bytea().notNull(),
    /** A hash of the groups the person is in, and whether the include list lets them in. */
    belonging: text().notNull(),
    isLive: boolean().notNull(),
    /** When the same entry switches the account off. */
    expiresAt: instant(),
    /** A hash of what the account was to be; null when there is something to say about the person in each run. */
    rowHash: bigint({ mode: 'bigint' }),
    /** A hash of the memberships the account was to have. */
    membershipsHash: bigint({ mode: 'bigint' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.directoryId] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** @public Serves the previous release alone, which still runs while this one takes its place; it goes with the next release's migration. */
export const ldapStagedPeople = pgTable(
  'ldap_staged_people',
  {
    tenantId: uuid().notNull(),
    /** The run that reads, or an id of its own for a preview. */
    runId: uuid().notNull(),
    /** Which try of the run: one that was given up may still be writing. */
    attempt: integer().notNull(),
    part: integer().notNull(),
    directoryIds: text().array().notNull(),
    standings: text().array().notNull(),
    dns: text().array().notNull(),
    usernames: text().array().notNull(),
    emails: text().array().notNull(),
    /** `bad` for an address that is none. */
    emailFaults: text().array().notNull(),
    displayNames: text().array().notNull(),
    firstNames: text().array().notNull(),
    lastNames: text().array().notNull(),
    /** Of each person positions in the list of groups that the run holds, joined by commas. */
    groups: text().array().notNull(),
    stagedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.attempt, t.part] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** @public Serves the previous release alone, which still runs while this one takes its place; it goes with the next release's migration. */
export const ldapReadings = pgTable(
  'ldap_readings',
  {
    tenantId: uuid().primaryKey(),
    /** The run that read these people. */
    runId: uuid().notNull(),
    /** By which entries became accounts: mappings, filter, lists, release. */
    rules: text().notNull(),
    /** The same for the same groups with the same members. */
    groupsDigest: text().notNull(),
    /** Sum over the accounts, groups and memberships it left behind; another one means that somebody has touched them since. */
    importedSum: text().notNull(),
    /** Directory ids of the groups, a line each. */
    groupIds: text().notNull(),
    /** Fingerprints and standings of the people, some bytes each. */
    entries: bytea().notNull(),
    /** A line for each of the same people. */
    directoryIds: text().notNull(),
    /** The groups of each as positions in the list of groups, joined by commas. */
    groups: text().notNull(),
    readAt: instant().notNull().defaultNow(),
  },
  (t) => [
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
