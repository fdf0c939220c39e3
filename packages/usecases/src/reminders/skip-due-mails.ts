import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { reminders } from '@portal/db/schema/reminders';
import { dueReminders } from './queue-due-mails.ts';

/** Marks the mails of due reminders as queued, so that none is sent. The bell still shows the reminders. */
export async function skipDueMails(tx: Tx): Promise<number> {
  const due = await dueReminders(tx);
  if (due.length === 0) return 0;
  const ids = due.map(({ id }) => id);
  await tx
    .update(reminders)
    .set({ emailQueuedAt: sql`now()` })
    .where(inArray(reminders.id, ids));
  return due.length;
}
