import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from '../accounts/users.ts';
import { bytea, createdAt, instant, platformRules, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const runState = pgEnum('run_state', ['queued', 'running', 'succeeded', 'failed']);

/** Work that a user started and may watch. The job queue carries it out; this row holds its state. */
export const runs = pgTable(
  'runs',
  {
    id: uuid().primaryKey(),
    /**
     * Null for platform runs, which only SUPER_ADMIN sees; the audit log names who started them. The row policies hide rows without a
     * tenant from every tenant, so these runs need no table, sweep and route of their own.
     */
    tenantId: uuid(),
    kind: text().notNull(),
    /** Set if only one run of this kind may be unfinished per subject. */
    subject: text(),
    payload: jsonb().notNull(),
    state: runState().notNull().default('queued'),
    /** Null for scheduled runs and once the account is deleted; the run belongs to the tenant. */
    startedBy: uuid(),
    /** Users who requested the same work while it was unfinished; they may watch it too. */
    joinedBy: uuid().array().notNull().default([]),
    createdAt: createdAt(),
    /** While unfinished: when the sweep may enqueue it again. The worker that runs it keeps postponing this. */
    dueAt: instant().notNull(),
    /** How often a worker began it; a run that kills its workers must not do so for ever. */
    attempts: integer().notNull().default(0),
    startedAt: instant(),
    finishedAt: instant(),
    done: integer(),
    total: integer(),
    error: text(),
  },
  (t) => [
    index('runs_unfinished')
      .on(t.dueAt)
      .where(sql`state in ('queued', 'running')`),
    index('runs_finished')
      .on(t.finishedAt)
      .where(sql`finished_at is not null`),
    // For runs that read a feed; retention removes them earlier than all others.
    index('runs_looked_at_feeds')
      .on(t.finishedAt)
      .where(sql`finished_at is not null and subject like 'rss:%'`),
    // Platform runs count as one tenant: `nulls not distinct`, which only the migration can express.
    uniqueIndex('runs_subject_unique')
      .on(t.tenantId, t.kind, t.subject)
      .where(sql`subject is not null and state in ('queued', 'running')`),
    // Only for the previous release, which sets no subject; the next release's migration drops it.
    uniqueIndex('runs_directory_sync_unique')
      .on(t.tenantId)
      .where(sql`kind = 'directory.sync' and state in ('queued', 'running')`),
    check('runs_platform_starter', sql`${t.tenantId} is not null or ${t.startedBy} is null`),
    index('runs_started_by').on(t.tenantId, t.startedBy),
    // Sets only `started_by` to null (`on delete set null (started_by)`), which only the migration can express.
    foreignKey({ columns: [t.tenantId, t.startedBy], foreignColumns: [users.tenantId, users.id] }).onDelete('set null'),
    ...tenantRules(t, tenants),
  ],
);

export const jobOutcome = pgEnum('job_outcome', ['succeeded', 'failed']);

/** The last outcome of each job, by name, for operators. */
export const jobOutcomes = pgTable(
  'job_outcomes',
  {
    name: text().primaryKey(),
    lastRunAt: instant().notNull(),
    lastState: jobOutcome().notNull(),
    lastDurationMs: integer().notNull(),
    runs: bigint({ mode: 'number' }).notNull().default(1),
  },
  () => platformRules(),
);

/** Sliding windows of counted events (failed sign-ins, reset requests), one row per limit and subject. */
export const rateWindows = pgTable(
  'rate_windows',
  {
    /** SHA-256 over the limit's name and its subject, so that no log of addresses and names arises. */
    key: bytea().primaryKey(),
    /** Newest last; never more than the limit allows. */
    hits: instant().array().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [index('rate_windows_expires').on(t.expiresAt)],
);
