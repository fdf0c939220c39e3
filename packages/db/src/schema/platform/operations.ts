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

/** Work a person started and may watch. The job queue carries it out; this row says how it stands. */
export const runs = pgTable(
  'runs',
  {
    id: uuid().primaryKey(),
    /** Null: work of the platform, seen by SUPER_ADMIN alone; who started it stands in the audit log. */
    tenantId: uuid(),
    kind: text().notNull(),
    /** What it is about, where only one run of its kind may be under way for that. */
    subject: text(),
    payload: jsonb().notNull(),
    state: runState().notNull().default('queued'),
    /** Null for what began by itself, and once the account is deleted: the run is the tenant's. */
    startedBy: uuid(),
    /** Others who asked for the same while it was under way and watch it too. */
    joinedBy: uuid().array().notNull().default([]),
    createdAt: createdAt(),
    /** While unfinished: when a sweep may hand it to the queue again. A worker at it keeps moving this ahead. */
    dueAt: instant().notNull(),
    /** How often a worker began it; one that kills its worker must not do so for ever. */
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
    // For looks at feeds, which go before all others.
    index('runs_looked_at_feeds')
      .on(t.finishedAt)
      .where(sql`finished_at is not null and subject like 'rss:%'`),
    // Platform runs count as those of one tenant: `nulls not distinct`, which only the migration can say.
    uniqueIndex('runs_subject_unique')
      .on(t.tenantId, t.kind, t.subject)
      .where(sql`subject is not null and state in ('queued', 'running')`),
    // Serves the previous release alone, which names no subject; it goes with the next release's migration.
    uniqueIndex('runs_directory_sync_unique')
      .on(t.tenantId)
      .where(sql`kind = 'directory.sync' and state in ('queued', 'running')`),
    check('runs_platform_starter', sql`${t.tenantId} is not null or ${t.startedBy} is null`),
    index('runs_started_by').on(t.tenantId, t.startedBy),
    // Of the starter alone, which only the migration can say: `on delete set null (started_by)`.
    foreignKey({ columns: [t.tenantId, t.startedBy], foreignColumns: [users.tenantId, users.id] }).onDelete('set null'),
    ...tenantRules(t, tenants),
  ],
);

export const jobOutcome = pgEnum('job_outcome', ['succeeded', 'failed']);

/** The last outcome of each job by name, for operators. */
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
    /** SHA-256 over the limit's name and its subject: a log of addresses and names is not kept. */
    key: bytea().primaryKey(),
    /** Newest last, never more than the limit allows. */
    hits: instant().array().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [index('rate_windows_expires').on(t.expiresAt)],
);
