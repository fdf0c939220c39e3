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
 * The outbox. A row is the promise that a mail goes out; the queue only nudges.
 * `key` names what the mail is about, once per occasion, and gives the Message-ID.
 */
export const mails = pgTable(
  'mails',
  {
    ...tenantColumns,
    kind: text().notNull(),
    key: text().notNull(),
    /** The account it goes to; its address is read when the mail is sent. Gone with the account. */
    userId: uuid(),
    /** Facts the template needs beyond the account's own; never a secret. */
    data: jsonb().notNull().default({}),
    /** Whether a person waits for it: such a mail leaves before the others. */
    isAwaited: boolean().notNull().default(false),
    state: mailState().notNull().default('queued'),
    attempts: integer().notNull().default(0),
    /** Attempts whose worker died: no failure of the mail, yet one that kills its worker must not do so for ever. */
    interruptions: integer().notNull().default(0),
    /** Queued: not before this. Sending: until then the row belongs to the worker that claimed it. */
    dueAt: instant().notNull().defaultNow(),
    /** Marks one claim, so that a worker whose lease ran out cannot settle a row another one took over. */
    leaseId: uuid(),
    /** Class of the last failure, see the mail package; null after success. */
    failure: text(),
    failureMessage: text(),
    /** The day, in Berlin, whose room over the service's own server the mail has taken; tried again on that day it takes none. */
    countedOn: date(),
    createdAt: createdAt(),
    settledAt: instant(),
  },
  (t) => [
    uniqueIndex('mails_key_unique').on(t.tenantId, t.key),
    index('mails_due')
      .on(t.tenantId, t.isAwaited, t.dueAt)
      .where(sql`state in ('queued', 'sending')`),
    index('mails_settled')
      .on(t.settledAt)
      .where(sql`settled_at is not null`),
    // For the deletion of an account, and for what was counted for it on a day.
    index('mails_user').on(t.tenantId, t.userId, t.countedOn),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/**
 * How many mails a tenant sent over the service's own server on a day, in Berlin. Apart from the mails, because deleting an
 * account takes its mails along and must not give room back.
 */
export const mailDays = pgTable(
  'mail_days',
  {
    ...tenantColumns,
    day: date().notNull(),
    counted: integer().notNull().default(0),
    /** Mails that ended because there was no room. */
    overQuota: integer().notNull().default(0),
    /** When the tenant's own limit was first in the way; by that the audit log is told once. */
    limitReachedAt: instant(),
  },
  (t) => [
    uniqueIndex('mail_days_day_unique').on(t.tenantId, t.day),
    index('mail_days_day').on(t.day),
    ...tenantRules(t, tenants),
  ],
);
