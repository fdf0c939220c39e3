import { sql } from 'drizzle-orm';
import { boolean, foreignKey, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts/users.ts';
import { createdAt, instant, tenantColumns, tenantRules } from './columns.ts';
import { tenants } from './tenants.ts';

/** What a person wants to be reminded of. Whether one is due is never stored: `dueAt` against the database's clock says it. */
export const reminders = pgTable(
  'reminders',
  {
    ...tenantColumns,
    userId: uuid().notNull(),
    title: text().notNull(),
    note: text(),
    dueAt: instant().notNull(),
    /** Names this due time; each new due time gets a new one. Notice and mail carry it and so belong to one due time. */
    occurrenceId: uuid().notNull(),
    emailEnabled: boolean().notNull().default(false),
    /** When the mail of this due time was promised to the outbox. */
    emailQueuedAt: instant(),
    emailSentAt: instant(),
    /** Tries of this due time's mail, the successful one included. */
    emailAttempts: integer().notNull().default(0),
    doneAt: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [
    index('reminders_user_due').on(t.tenantId, t.userId, t.dueAt),
    // Holds only mails still to be promised, the next one first: looking for due ones costs the same however many are stored.
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

/** Due times that came and were snoozed away. The one a reminder stands at now is read off the reminder itself. */
export const snoozedReminders = pgTable(
  'snoozed_reminders',
  {
    /** The occurrence's. */
    ...tenantColumns,
    userId: uuid().notNull(),
    reminderId: uuid().notNull(),
    /** As it was then. */
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
