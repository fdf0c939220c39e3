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
  real,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, instant, tenantColumns, tenantPolicies, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const serverKind = pgEnum('server_kind', ['virtualization', 'backup', 'mail-gateway']);
export const serverAuthMethod = pgEnum('server_auth_method', ['token', 'password']);
export const serverState = pgEnum('server_state', ['ok', 'unknown', 'warning', 'critical']);
export const serverFailure = pgEnum('server_failure', [
  'zugang',
  'rechte',
  'antwortform',
  'server',
  'netz',
  'zertifikat',
]);

/** A server that a tenant monitors. */
export const monitoredServers = pgTable(
  'monitored_servers',
  {
    ...tenantColumns,
    kind: serverKind().notNull(),
    name: text().notNull(),
    /** `https://host:port`. */
    address: text().notNull(),
    authMethod: serverAuthMethod().notNull(),
    tokenId: text(),
    /** Sealed: see packages/platform/src/secrets. */
    tokenSecret: text(),
    username: text(),
    /** Sealed. */
    password: text(),
    verifyTls: boolean().notNull(),
    caCertificatePem: text(),
    pollIntervalMin: integer().notNull(),
    isActive: boolean().notNull(),
    /** Grows with every change, so that results of polls with the old settings are not stored. */
    revision: integer().notNull().default(1),
    /** The run of the last poll. If the status is from another run, that poll is under way or has ended its process. */
    pollRunId: uuid('look_run_id'),
    /** Polls in a row that ended their process. */
    lostPolls: integer('lost_looks').notNull().default(0),
    /** No polls until then, because polls of this server ended their processes. */
    restsUntil: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    check('monitored_servers_interval', sql`${t.pollIntervalMin} between 1 and 1440`),
    check('monitored_servers_no_token', sql`${t.kind} <> 'mail-gateway' or ${t.authMethod} = 'password'`),
    ...tenantRules(t, tenants),
  ],
);

/** The result of the last poll of the server with the same id; no row before the first poll. */
export const serverStatuses = pgTable(
  'server_statuses',
  {
    ...tenantColumns,
    /** The run that wrote it. A resumed run skips servers it has already polled. */
    runId: uuid().notNull(),
    state: serverState().notNull(),
    failure: serverFailure(),
    message: text(),
    checkedAt: instant().notNull(),
    lastOkAt: instant(),
    headline: text().notNull(),
    // JSON as text, because the list of servers copies it unparsed and no query reads inside it.
    facts: text().notNull(),
    rules: text().notNull(),
    notExamined: text().notNull(),
    changes: text().notNull(),
    /** Runs in a row that did not reach the server. */
    missed: integer().notNull(),
    tookMs: integer().notNull(),
    /** The state for the next run, such as cached answers and their times. */
    memory: jsonb().notNull(),
  },
  (t) => [
    foreignKey({
      columns: [t.tenantId, t.id],
      foreignColumns: [monitoredServers.tenantId, monitoredServers.id],
    }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/** How servers fared: one row for each server and five minutes with a poll, for 30 days. */
export const serverHistory = pgTable(
  'server_history',
  {
    tenantId: uuid().notNull(),
    serverId: uuid().notNull(),
    /** Start of the five minutes. */
    at: instant().notNull(),
    /** State, failure and figures are those of the worst poll of that time. */
    state: serverState().notNull(),
    failure: serverFailure(),
    /** Percent. */
    cpu: real(),
    memory: real(),
    /** The fullest store. */
    fullest: real(),
    /** Running guests. */
    guests: integer(),
    /** Mails in the queues. */
    waiting: integer(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.serverId, t.at] }),
    // For the retention sweep.
    index('server_history_at').on(t.at),
    foreignKey({
      columns: [t.tenantId, t.serverId],
      foreignColumns: [monitoredServers.tenantId, monitoredServers.id],
    }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);

/** When the servers of a tenant are polled next. */
export const pollPlans = pgTable(
  'poll_plans',
  {
    tenantId: uuid().primaryKey(),
    /** Null while no server is switched on. */
    nextPollAt: instant(),
  },
  (t) => [
    index('poll_plans_due')
      .on(t.nextPollAt)
      .where(sql`next_poll_at is not null`),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id] }).onDelete('cascade'),
    ...tenantPolicies(t.tenantId),
  ],
);
