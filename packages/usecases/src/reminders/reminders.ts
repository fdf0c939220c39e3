import { and, desc, eq, inArray, isNotNull, isNull, sql, type SQL } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import { conflict, invalidField, notFound, type PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import {
  dueLabel,
  maxOpenReminders,
  maxSnoozedDueTimes,
  type NewReminder,
  type Reminder,
  type ReminderChange,
  type ReminderState,
  type Snooze,
  snoozedUntil,
} from '@portal/domain/reminders/reminders';
import type { UserContext } from '@portal/platform/context';
import { hasCome, changeReminders, liesAhead } from './user-lock.ts';

/** A reminder as shown to its owner, and the database's clock at the time of the read. */
const reminderColumns = {
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

/** Enough for all open reminders; of done ones, only the latest are listed. */
const maxListed = 1_000;

/** The caller's reminders in a state, earliest due time first. */
export async function listReminders(ctx: UserContext, state: ReminderState): Promise<Reminder[]> {
  const rows = await ctx.run(remindersOf[state], { userId: ctx.actor.id });
  return rows.toReversed().map(toReminder);
}

const remindersIn = (state: ReminderState, isInState: () => SQL | undefined) =>
  prepared<{ userId: string }>()(`reminders_${state}`, (db) =>
    db
      .select(reminderColumns)
      .from(reminders)
      .where(and(eq(reminders.userId, sql.placeholder('userId')), isInState()))
      .orderBy(desc(reminders.dueAt), desc(reminders.id))
      .limit(maxListed),
  );

const remindersOf = {
  open: remindersIn('open', () => isNull(reminders.doneAt)),
  due: remindersIn('due', () => and(isNull(reminders.doneAt), hasCome())),
  done: remindersIn('done', () => isNotNull(reminders.doneAt)),
};

/** Adds a reminder of the caller. Throws 400 for a due time that is not in the future, 409 `LIMIT_REACHED`. */
export const createReminder = (
  ctx: UserContext,
  { title, note, dueAt, emailEnabled }: NewReminder,
): Promise<Reminder> =>
  changeReminders(ctx, async (tx) => {
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

/**
 * Changes a reminder strictly before it is due; a new due time begins with no mail sent. Throws 400 for a due time that is not
 * ahead, 404, 409 `REMINDER_DONE`, 409 `REMINDER_DUE`.
 */
export const updateReminder = (
  ctx: UserContext,
  id: string,
  { title, note, dueAt, emailEnabled }: ReminderChange,
): Promise<Reminder> =>
  changeReminders(ctx, async (tx) => {
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
    if (doneAt) throw conflict('REMINDER_DONE');
    throw conflict('REMINDER_DUE');
  });

/**
 * Gives a due reminder a new due time and resets its mail. The old due time stays in the list of notices, which drops the earliest ones
 * beyond its limit. Throws 400 for a time that is not in the future, 404, 409 `REMINDER_NOT_DUE`.
 */
export const snoozeReminder = (ctx: UserContext, id: string, snooze: Snooze): Promise<Reminder> =>
  changeReminders(ctx, async (tx, now) => {
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
    const earliest = tx
      .select({ id: snoozedReminders.id })
      .from(snoozedReminders)
      .where(eq(snoozedReminders.userId, ctx.actor.id))
      .orderBy(desc(snoozedReminders.dueAt))
      // This statement does not see the row it inserts.
      .offset(maxSnoozedDueTimes - 1);
    const dropped = tx
      .$with('dropped')
      .as(tx.delete(snoozedReminders).where(inArray(snoozedReminders.id, earliest)).returning());
    const [snoozed] = await tx
      .with(due, kept, dropped)
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

/** Marks a due reminder as done; returns one that is done already unchanged. Throws 404, 409 `REMINDER_NOT_DUE`. */
export const finishReminder = (ctx: UserContext, id: string): Promise<Reminder> =>
  changeReminders(ctx, async (tx) => {
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

/** Deletes a reminder in any state together with its notices; a mail that is still queued is not sent. Throws 404. */
export const deleteReminder = (ctx: UserContext, id: string): Promise<void> =>
  changeReminders(ctx, async (tx) => {
    const deleted = await tx.delete(reminders).where(isOwn(ctx, id)).returning({ id: reminders.id });
    if (deleted.length === 0) throw notFound();
  });

const toReminder = ({ readAt, ...row }: Omit<Reminder, 'dueLabel'> & { readAt: Date }): Reminder => ({
  ...row,
  dueLabel: dueLabel(row.dueAt, readAt),
});

/** Matches the caller's reminder with this id. */
const isOwn = (ctx: UserContext, id: string): SQL | undefined =>
  and(eq(reminders.id, id), eq(reminders.userId, ctx.actor.id));

/** The caller's reminder. Throws 404. */
async function ownReminder(tx: Tx, ctx: UserContext, id: string): Promise<Reminder> {
  const [row] = await tx.select(reminderColumns).from(reminders).where(isOwn(ctx, id));
  if (!row) throw notFound();
  return toReminder(row);
}

/** Throws 400 for a time that has passed by the database's clock. */
async function checkLiesAhead(tx: Tx, field: 'dueAt' | 'until', time: Date | undefined): Promise<void> {
  if (!time) return;
  const { rows } = await tx.execute<{ isPast: boolean }>(sql`select ${hasCome(time)} as "isPast"`);
  if (rows[0]?.isPast) throw invalidField(field, 'must lie in the future');
}

/** The columns of a new due time, with its mail reset; `occurrenceId` is a new id. */
const newDueTime = (dueAt: Date, occurrenceId: string) => ({
  dueAt,
  occurrenceId,
  emailQueuedAt: null,
  emailSentAt: null,
  emailAttempts: 0,
});

const notDue = (): PortalError => conflict('REMINDER_NOT_DUE');
