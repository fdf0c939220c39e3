import { and, isNull, sql } from 'drizzle-orm';
import { reminders } from '@portal/db/schema/reminders';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { Reminder, ReminderChange } from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { checkLiesAhead, isOwn, newDueTime, ownReminder, reminderColumns, toReminder } from './own-reminder.ts';
import { inTurn, liesAhead } from './user-lock.ts';

/**
 * Changes a reminder strictly before it is due; a new due time begins with no mail sent. Throws 400 for a due time that is not
 * ahead, 404, 409 `REMINDER_DONE`, 409 `REMINDER_DUE`.
 */
export const updateReminder = (
  ctx: UserContext,
  id: string,
  { title, note, dueAt, emailEnabled }: ReminderChange,
): Promise<Reminder> =>
  inTurn(ctx, async (tx) => {
    const [changed] = await tx
      .update(reminders)
      .set({
        ...(title !== undefined && { title }),
        ...(note !== undefined && { note: note || null }),
        ...(emailEnabled !== undefined && { emailEnabled }),
        ...(dueAt && newDueTime(dueAt, newId())),
        updatedAt: sql`now()`,
      })
      .where(and(isOwn(ctx, id), isNull(reminders.doneAt), liesAhead(), dueAt && liesAhead(dueAt)))
      .returning(reminderColumns);
    if (changed) return toReminder(changed);
    await checkLiesAhead(tx, 'dueAt', dueAt);
    const { doneAt } = await ownReminder(tx, ctx, id);
    if (doneAt) throw conflict('REMINDER_DONE', 'This reminder is done and cannot be changed any more.');
    throw conflict('REMINDER_DUE', 'This reminder is due. Please snooze it or mark it as done.');
  });
