import { sql } from 'drizzle-orm';
import {
  boolean,
  date,
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
import { createdAt, instant, tenantColumns, tenantRules } from '../columns.ts';
import { tenants } from '../tenants.ts';

export const mailState = pgEnum('mail_state', [
  'queued',
  'sending',
  'sent',
  'failed',
  'skipped',
  'not_configured',
  'quota',
]);

/**
 * The outbox. The row guarantees that the mail is sent; the job queue only nudges.
 * `key` identifies the occasion of the mail; the Message-ID is derived from it.
 */
export const mails = pgTable(
  'mails',
  {
    ...tenantColumns,
    kind: text().notNull(),
    key: text().notNull(),
    /** The receiving account; its address is read when the mail is sent. Deleted with the account. */
    userId: uuid(),
    /** Template data beyond the account's own; never a secret. */
    data: jsonb().notNull().default({}),
    /** Whether a person waits for the mail; awaited mails are sent first. */
    isAwaited: boolean().notNull().default(false),
    state: mailState().notNull().default('queued'),
    attempts: integer().notNull().default(0),
    /** Attempts whose worker died. They are no failures of the mail, but a mail that kills its workers must not do so for ever. */
    interruptions: integer().notNull().default(0),
    /** Queued: earliest time of the next attempt. Sending: end of the lease of the worker that claimed the row. */
    dueAt: instant().notNull().defaultNow(),
    /** Identifies one claim, so that a worker whose lease expired cannot settle a row that another worker has claimed. */
    leaseId: uuid(),
    /** Class of the last failure (see the mail package); null after success. */
    failure: text(),
    failureMessage: text(),
    /** The day (Berlin time) whose quota of the service's mail server the mail has used; more attempts that day use none. */
    countedOn: date(),
    createdAt: createdAt(),
    settledAt: instant(),
  },
  (t) => [
    uniqueIndex('mails_key_unique').on(t.tenantId, t.key),
    index('mails_due')
      .on(t.tenantId, t.isAwaited, t.dueAt)
      .where(sql`state in ('queued', 'sending')`),
    // For the sweep over all tenants: the index above reads the waiting mails of each.
    index('mails_due_anywhere')
      .on(t.dueAt)
      .where(sql`state in ('queued', 'sending')`),
    index('mails_settled')
      .on(t.settledAt)
      .where(sql`settled_at is not null`),
    // For the deletion of an account, and for its counted mails of a day.
    index('mails_user').on(t.tenantId, t.userId, t.countedOn),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/**
 * How many mails a tenant sent over the service's mail server on a day (Berlin time). Counted separately, because deleting an account
 * deletes its mails but must not return its quota.
 */
export const mailDays = pgTable(
  'mail_days',
  {
    ...tenantColumns,
    day: date().notNull(),
    counted: integer().notNull().default(0),
    /** Mails that ended unsent because the quota was used up. */
    overQuota: integer('held_back').notNull().default(0),
    /** When the tenant first reached its limit, so that the audit log gets one entry a day. */
    limitReachedAt: instant(),
  },
  (t) => [
    uniqueIndex('mail_days_day_unique').on(t.tenantId, t.day),
    index('mail_days_day').on(t.day),
    ...tenantRules(t, tenants),
  ],
);
