import { reminders } from '@portal/db/schema/reminders';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { isOwn } from './own-reminder.ts';
import { inTurn } from './user-lock.ts';

/** Deletes a reminder in whatever state, its notices with it; a mail not sent yet is not sent. Throws 404. */
export const deleteReminder = (ctx: UserContext, id: string): Promise<void> =>
  inTurn(ctx, async (tx) => {
    const deleted = await tx.delete(reminders).where(isOwn(ctx, id)).returning({ id: reminders.id });
    if (deleted.length === 0) throw notFound();
  });
