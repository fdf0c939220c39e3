import { and, asc, eq, inArray, isNull, lte, notInArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { reminders } from '@portal/db/schema/reminders';
import type { SystemContext } from '@portal/platform/context';
import { nudgeMails, queueMails } from '@portal/platform/outbox/queue-mail';
import { reminderDueMail } from './mails/due.ts';
import { lockIdleUsers } from './user-lock.ts';

/** Reminders per transaction; limits how long a change of one of these reminders waits. */
const batch = 200;
/** Users skipped in one sweep before it ends; more busy users at once are not plausible, and the next sweep comes soon. */
const maxBusy = 1_000;

const wantsMailNow = and(
  eq(reminders.emailEnabled, true),
  isNull(reminders.emailQueuedAt),
  isNull(reminders.doneAt),
  lte(reminders.dueAt, sql`now()`),
);

/** Reminders whose mail is due and not queued yet, earliest due time first, without those of skipped users. */
export const dueReminders = (tx: Tx, skippedUserIds: readonly string[] = []) =>
  tx
    .select({ id: reminders.id, userId: reminders.userId })
    .from(reminders)
    .where(and(wantsMailNow, skippedUserIds.length > 0 ? notInArray(reminders.userId, [...skippedUserIds]) : undefined))
    .orderBy(asc(reminders.dueAt))
    .limit(batch);

/**
 * Queues one mail for each due time that has come, for every tenant. Skips users who are changing a reminder at this moment until the
 * next sweep: otherwise their edit could move a due time whose mail is already queued. The sweep does not wait for them.
 */
export async function queueDueReminderMails(system: SystemContext, signal: AbortSignal): Promise<void> {
  const busy = new Set<string>();
  for (;;) {
    signal.throwIfAborted();
    const { found, tenantIds } = await system.acrossTenants('mails of due reminders are queued', async (tx) => {
      const due = await dueReminders(tx, [...busy]);
      const users = [...new Set(due.map(({ userId }) => userId))];
      const free = await lockIdleUsers(tx, users);
      for (const userId of users) if (!free.has(userId)) busy.add(userId);
      const ids = due.filter(({ userId }) => free.has(userId)).map(({ id }) => id);
      return { found: due.length, tenantIds: await queueMailsOf(tx, ids) };
    });
    for (const tenantId of tenantIds) await nudgeMails(system, tenantId);
    if (found < batch || busy.size > maxBusy) return;
  }
}

/** Queues the mails and returns the tenants with new mails. */
async function queueMailsOf(tx: Tx, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  // Read the reminders again under the users' locks. The row locks keep the accounts until their mails are stored.
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
