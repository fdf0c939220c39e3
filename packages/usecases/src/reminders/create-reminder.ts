import { and, eq, isNull } from 'drizzle-orm';
import { reminders } from '@portal/db/schema/reminders';
import { conflict } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { maxOpenReminders, type NewReminder, type Reminder } from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { checkLiesAhead, newDueTime, reminderColumns, toReminder } from './own-reminder.ts';
import { inTurn } from './user-lock.ts';

/** Makes a reminder of the caller's. Throws 400 for a due time that is not ahead, 409 `LIMIT_REACHED`. */
export const createReminder = (
  ctx: UserContext,
  { title, note, dueAt, emailEnabled }: NewReminder,
): Promise<Reminder> =>
  inTurn(ctx, async (tx) => {
    await checkLiesAhead(tx, 'dueAt', dueAt);
    const open = await tx.$count(reminders, and(eq(reminders.userId, ctx.actor.id), isNull(reminders.doneAt)));
    if (open >= maxOpenReminders) {
      throw conflict(
        'LIMIT_REACHED',
        `You have ${maxOpenReminders} open reminders. Please finish or delete some first.`,
      );
    }
    const [made] = await tx
      .insert(reminders)
      .values({
        id: newId(),
        tenantId: ctx.tenantId,
        userId: ctx.actor.id,
        title,
        note: note || null,
        emailEnabled,
        ...newDueTime(dueAt, newId()),
      })
      .returning(reminderColumns);
    if (!made) throw new Error('an insert without a conflict clause returned no row');
    return toReminder(made);
  });
