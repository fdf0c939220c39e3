import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { reminders } from '@portal/db/schema/reminders';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails, queueMails } from '@portal/platform/outbox/queue-mail';
import { reminderDueMail } from './mails/due.ts';
import { usersBetweenTurns } from './user-lock.ts';

/** Reminders per transaction: a change that meets one of them waits no longer than that. */
const batch = 200;

const wantsMailNow = and(
  eq(reminders.emailEnabled, true),
  isNull(reminders.emailQueuedAt),
  isNull(reminders.doneAt),
  lte(reminders.dueAt, sql`now()`),
);

/** Reminders whose mail is due and not promised yet, those due longest first. */
export const dueReminders = (tx: Tx) =>
  tx
    .select({ id: reminders.id, userId: reminders.userId })
    .from(reminders)
    .where(wantsMailNow)
    .orderBy(asc(reminders.dueAt))
    .limit(batch);

/**
 * Promises one mail for each due time that has come, for every tenant. Users who are just changing something come next time, so
 * that no edit still under way can win over a due time that was promised a mail.
 */
export async function queueDueReminderMails(system: SystemContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { found, tenantIds } = await system.acrossTenants('mails of due reminders are promised', async (tx) => {
      const due = await dueReminders(tx);
      return { found: due.length, tenantIds: due.length === 0 ? [] : await promiseMails(tx, due) };
    });
    for (const tenantId of tenantIds) await nudgeMails(system, tenantId);
    if (found < batch || tenantIds.length === 0) return;
  }
}

/** Answers whose outboxes there is something new in. */
async function promiseMails(tx: Tx, due: { id: string; userId: string }[]): Promise<string[]> {
  const free = await usersBetweenTurns(tx, [...new Set(due.map(({ userId }) => userId))]);
  const ids = due.filter(({ userId }) => free.has(userId)).map(({ id }) => id);
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
