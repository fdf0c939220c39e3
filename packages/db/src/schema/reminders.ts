import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts/users.ts';
import { createdAt, instant, tenantColumns, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';

/** Reminders of an account. Whether one is due is never stored; it follows from `dueAt` and the database's clock. */
export const reminders = pgTable(
  'reminders',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    title: text().notNull(),
    note: text(),
    dueAt: instant().notNull(),
    /** Identifies the current due time; each new due time gets a new id, which ties its notice and mail to it. */
    occurrenceId: uuid().notNull(),
    emailEnabled: boolean().notNull().default(false),
    /** When the mail for this due time was queued in the outbox. */
    emailQueuedAt: instant(),
    emailSentAt: instant(),
    /** Attempts to send the mail for this due time, including the successful one. */
    emailAttempts: integer().notNull().default(0),
    doneAt: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    index('reminders_user_due').on(t.tenantId, t.userId, t.dueAt),
    // Contains only mails not queued yet, the next one first, so finding due ones does not get slower as reminders accumulate.
    index('reminders_mail_due')
      .on(t.dueAt)
      .where(sql`email_enabled and email_queued_at is null and done_at is null`),
    index('reminders_done')
      .on(t.doneAt)
      .where(sql`done_at is not null`),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    ...tenantRules(t, tenants),
  ],
);

/** Past due times of reminders that were snoozed. The current due time is in the reminder itself. */
export const snoozedReminders = pgTable(
  'snoozed_reminders',
  {
    /** `id` is the `occurrenceId` of that due time. */
    ...tenantColumns,
    userId: uuid().notNull(),
    reminderId: uuid().notNull(),
    /** Title at that time. */
    title: text().notNull(),
    dueAt: instant().notNull(),
  },
  (t) => [
    index('snoozed_reminders_user_due').on(t.tenantId, t.userId, t.dueAt),
    index('snoozed_reminders_reminder').on(t.tenantId, t.reminderId),
    index('snoozed_reminders_due').on(t.dueAt),
    foreignKey({ columns: [t.tenantId, t.userId], foreignColumns: [users.tenantId, users.id] }).onDelete('cascade'),
    foreignKey({ columns: [t.tenantId, t.reminderId], foreignColumns: [reminders.tenantId, reminders.id] }).onDelete(
      'cascade',
    ),
    ...tenantRules(t, tenants),
  ],
);
