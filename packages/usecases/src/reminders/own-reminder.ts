import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { reminders } from '@portal/db/schema/reminders';
import { invalidField, notFound } from '@portal/domain/errors';
import { dueLabel, type Reminder } from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { hasCome } from './user-lock.ts';

/** What a user sees of a reminder, and the database's clock at that moment. */
export const reminderColumns = {
  id: reminders.id,
  title: reminders.title,
  note: reminders.note,
  dueAt: reminders.dueAt,
  isDue: sql<boolean>`(${reminders.doneAt} is null and ${hasCome()})`,
  emailEnabled: reminders.emailEnabled,
  emailSentAt: reminders.emailSentAt,
  emailAttempts: reminders.emailAttempts,
  doneAt: reminders.doneAt,
  readAt: sql<Date>`clock_timestamp()`.mapWith(reminders.dueAt),
};

export const toReminder = ({ readAt, ...row }: Omit<Reminder, 'dueLabel'> & { readAt: Date }): Reminder => ({
  ...row,
  dueLabel: dueLabel(row.dueAt, readAt),
});

/** The caller's reminder of this id and no other. */
export const isOwn = (ctx: UserContext, id: string): SQL | undefined =>
  and(eq(reminders.id, id), eq(reminders.userId, ctx.actor.id));

/** The caller's reminder. Throws 404. */
export async function ownReminder(tx: Tx, ctx: UserContext, id: string): Promise<Reminder> {
  const [row] = await tx.select(reminderColumns).from(reminders).where(isOwn(ctx, id));
  if (!row) throw notFound();
  return toReminder(row);
}

/** Throws 400 for a time that has come already, by the database's clock. */
export async function checkLiesAhead(tx: Tx, field: 'dueAt' | 'until', time: Date | undefined): Promise<void> {
  if (!time) return;
  const { rows } = await tx.execute<{ isPast: boolean }>(sql`select ${hasCome(time)} as "isPast"`);
  if (rows[0]?.isPast) throw invalidField(field, 'must lie in the future');
}

/** A due time and all that belongs to it, set back for a new one; `occurrenceId` is a fresh id. */
export const newDueTime = (dueAt: Date, occurrenceId: string) => ({
  dueAt,
  occurrenceId,
  emailQueuedAt: null,
  emailSentAt: null,
  emailAttempts: 0,
});
