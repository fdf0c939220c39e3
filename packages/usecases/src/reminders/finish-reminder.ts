import { and, isNull, sql } from 'drizzle-orm';
import { reminders } from '@portal/db/schema/reminders';
import type { Reminder } from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { notDue } from './not-due.ts';
import { isOwn, ownReminder, reminderColumns, toReminder } from './own-reminder.ts';
import { hasCome, inTurn } from './user-lock.ts';

/** Marks a due reminder as done; one that is done already is answered as it stands. Throws 404, 409 `REMINDER_NOT_DUE`. */
export const finishReminder = (ctx: UserContext, id: string): Promise<Reminder> =>
  inTurn(ctx, async (tx) => {
    const [finished] = await tx
      .update(reminders)
      .set({ doneAt: sql`clock_timestamp()`, updatedAt: sql`now()` })
      .where(and(isOwn(ctx, id), isNull(reminders.doneAt), hasCome()))
      .returning(reminderColumns);
    if (finished) return toReminder(finished);
    const reminder = await ownReminder(tx, ctx, id);
    if (!reminder.doneAt) throw notDue();
    return reminder;
  });
