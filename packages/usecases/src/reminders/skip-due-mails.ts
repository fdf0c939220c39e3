import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { reminders } from '@portal/db/schema/reminders';
import { dueReminders } from './queue-due-mails.ts';

/** Has the mails of due times that have come count as promised, so that none is sent. The bell goes on showing them. */
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
