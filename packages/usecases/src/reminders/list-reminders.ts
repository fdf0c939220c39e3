import { and, desc, eq, isNotNull, isNull } from 'drizzle-orm';
import { reminders } from '@portal/db/schema/reminders';
import type { Reminder, ReminderState } from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { reminderColumns, toReminder } from './own-reminder.ts';
import { hasCome } from './user-lock.ts';

/** As many as can be open; of done ones, the latest. */
const maxListed = 1_000;

/** The caller's reminders of a state by due time, earliest first. */
export async function listReminders(ctx: UserContext, state: ReminderState): Promise<Reminder[]> {
  const isInState = {
    open: isNull(reminders.doneAt),
    due: and(isNull(reminders.doneAt), hasCome()),
    done: isNotNull(reminders.doneAt),
  }[state];
  const rows = await ctx.read((db) =>
    db
      .select(reminderColumns)
      .from(reminders)
      .where(and(eq(reminders.userId, ctx.actor.id), isInState))
      .orderBy(desc(reminders.dueAt), desc(reminders.id))
      .limit(maxListed),
  );
  return rows.toReversed().map(toReminder);
}
