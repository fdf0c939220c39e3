import { sql } from 'drizzle-orm';
import { foreignKey, index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { createdAt, instant, tenantColumns, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';
import { users } from './users.ts';

export const mailState = pgEnum('mail_state', ['queued', 'sending', 'sent', 'failed', 'skipped', 'not_configured']);

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
    createdAt: createdAt(),
    settledAt: instant(),
  },
  (t) => [
    uniqueIndex('mails_key_unique').on(t.tenantId, t.key),
    index('mails_due')
      .on(t.tenantId, t.dueAt)
      .where(sql`state in ('queued', 'sending')`),
    index('mails_settled')
      .on(t.settledAt)
      .where(sql`settled_at is not null`),
    index('mails_user').on(t.tenantId, t.userId),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);
