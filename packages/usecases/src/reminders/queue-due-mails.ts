import { and, asc, eq, inArray, isNull, lte, notInArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { reminders } from '@portal/db/schema/reminders';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails, queueMails } from '@portal/platform/outbox/queue-mail';
import { reminderDueMail } from './mails/due.ts';
import { usersBetweenTurns } from './user-lock.ts';

/** Reminders per transaction: a change that meets one of them waits no longer than that. */
const batch = 200;
/** Users passed over in one sweep. More at once have been busy for no good reason; the next sweep comes soon. */
const maxBusy = 1_000;

const wantsMailNow = and(
  eq(reminders.emailEnabled, true),
  isNull(reminders.emailQueuedAt),
  isNull(reminders.doneAt),
  lte(reminders.dueAt, sql`now()`),
);

/** Reminders whose mail is due and not promised yet, those due longest first; without those of the users who are passed over. */
export const dueReminders = (tx: Tx, passedOver: readonly string[] = []) =>
  tx
    .select({ id: reminders.id, userId: reminders.userId })
    .from(reminders)
    .where(and(wantsMailNow, passedOver.length > 0 ? notInArray(reminders.userId, [...passedOver]) : undefined))
    .orderBy(asc(reminders.dueAt))
    .limit(batch);

/**
 * Promises one mail for each due time that has come, for every tenant. Users who are just changing something come next time, so
 * that no edit still under way can win over a due time that was promised a mail; they keep nobody else waiting.
 */
export async function queueDueReminderMails(system: SystemContext, signal: AbortSignal): Promise<void> {
  const busy = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const { found, tenantIds } = await system.acrossTenants('mails of due reminders are promised', async (tx) => {
      const due = await dueReminders(tx, [...busy]);
      const users = [...new Set(due.map(({ userId }) => userId))];
      const free = await usersBetweenTurns(tx, users);
      for (const userId of users) if (!free.has(userId)) busy.add(userId);
      const ids = due.filter(({ userId }) => free.has(userId)).map(({ id }) => id);
      return { found: due.length, tenantIds: await queueMailsOf(tx, ids) };
    });
    for (const tenantId of tenantIds) await nudgeMails(system, tenantId);
    if (found < batch || busy.size > maxBusy) return;
  }
}

/** Answers whose outboxes there is something new in. */
async function queueMailsOf(tx: Tx, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  // Read again, between turns. The accounts are held, so that none is deleted before its mail is a row.
  const still = await tx
    .select({
      id: reminders.id,
      tenantId: reminders.tenantId,
      userId: reminders.userId,
      occurrenceId: reminders.occurrenceId,
    })
    .from(reminders)
    .innerJoin(users, and(eq(users.tenantId, reminders.tenantId), eq(users.id, reminders.userId)))
    .where(and(inArray(reminders.id, ids), wantsMailNow))
    .for('key share', { of: users });
  if (still.length === 0) return [];
  await queueMails(
    tx,
    reminderDueMail,
    still.map(({ id, tenantId, userId, occurrenceId }) => ({
      tenantId,
      key: `reminders/due/${occurrenceId}`,
      userId,
      data: { reminderId: id, occurrenceId },
    })),
  );
  await tx
    .update(reminders)
    .set({ emailQueuedAt: sql`now()` })
    .where(
      inArray(
        reminders.id,
        still.map(({ id }) => id),
      ),
    );
  return [...new Set(still.map(({ tenantId }) => tenantId))];
}
