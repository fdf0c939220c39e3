import { and, eq, isNull, sql } from 'drizzle-orm';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { type Reminder, type Snooze, snoozedUntil } from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { notDue } from './not-due.ts';
import { checkLiesAhead, isOwn, newDueTime, ownReminder, reminderColumns, toReminder } from './own-reminder.ts';
import { hasCome, inTurn, liesAhead } from './user-lock.ts';

/**
 * Gives a due reminder a new due time, with no mail sent yet; the one that came stays in the list of notices. Throws 400 for a
 * time that is not ahead, 404, 409 `REMINDER_NOT_DUE`.
 */
export const snoozeReminder = (ctx: UserContext, id: string, snooze: Snooze): Promise<Reminder> =>
  inTurn(ctx, async (tx, now) => {
    const until = snoozedUntil(snooze, now);
    const due = tx.$with('due').as(
      tx
        .select({
          id: reminders.occurrenceId,
          tenantId: reminders.tenantId,
          userId: reminders.userId,
          reminderId: reminders.id,
          title: reminders.title,
          dueAt: reminders.dueAt,
        })
        .from(reminders)
        .where(and(isOwn(ctx, id), isNull(reminders.doneAt), hasCome(), liesAhead(until)))
        .for('update'),
    );
    const kept = tx.$with('kept').as(tx.insert(snoozedReminders).select(tx.select().from(due)).returning());
    const [snoozed] = await tx
      .with(due, kept)
      .update(reminders)
      .set({ ...newDueTime(until, newId()), updatedAt: sql`now()` })
      .from(due)
      .where(eq(reminders.id, due.reminderId))
      .returning(reminderColumns);
    if (snoozed) return toReminder(snoozed);
    await checkLiesAhead(tx, 'until', until);
    await ownReminder(tx, ctx, id);
    throw notDue();
  });
