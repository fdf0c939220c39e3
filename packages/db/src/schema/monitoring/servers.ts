import { sql } from 'drizzle-orm';
import { boolean, check, foreignKey, index, integer, jsonb, pgEnum, pgTable, text, uuid } from 'drizzle-orm/pg-core';
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

/** A server that a tenant watches. */
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
    /** Grows with every change: what was asked of the server as it was before is not written any more. */
    revision: integer().notNull().default(1),
    /** The run that began the last look. Unless the status is of that run as well, the look is under way or ended its process. */
    pollRunId: uuid('look_run_id'),
    /** Looks in a row that ended their process. */
    lostPolls: integer('lost_looks').notNull().default(0),
    /** Left alone until then, because looks at it ended their processes. */
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

/** What the last look at the server of the same id came to; none before the first. */
export const serverStatuses = pgTable(
  'server_statuses',
  {
    ...tenantColumns,
    /** The run that wrote it: one that is taken up again leaves it alone. */
    runId: uuid().notNull(),
    state: serverState().notNull(),
    failure: serverFailure(),
    message: text(),
    checkedAt: instant().notNull(),
    lastOkAt: instant(),
    headline: text().notNull(),
    // JSON as text: a list of servers hands these on as they are, and nothing in here asks for a part of them.
    facts: text().notNull(),
    rules: text().notNull(),
    notExamined: text().notNull(),
    changes: text().notNull(),
    /** Runs in a row that did not reach it. */
    missed: integer().notNull(),
    tookMs: integer().notNull(),
    /** What the next run goes on from: parts that are read now and then, with their times. */
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

/** When the servers of a tenant are looked at next. */
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
