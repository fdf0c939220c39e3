import { and, eq, gt, lte, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import { prepared } from '@portal/db/prepared';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import { maxOpenReminders, type ReminderNotice } from '@portal/domain/reminders/reminders';
import { DAY } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { withSharedLock } from './user-lock.ts';

/** How long notices stay listed. */
const listedForMs = 14 * DAY;
// At most all open reminders of a user share one due time, so a full answer always contains at least one complete due time.
const maxNotices = 2 * maxOpenReminders;

export interface Notices {
  /** Newest first. */
  notices: ReminderNotice[];
  /** `since` of the next call: everything due up to this instant has been listed. */
  until: Date;
}

/**
 * The caller's due times that came after `since`, within the last 14 days. They come from the reminders themselves, so they do not wait
 * for a worker, and each occurs once. A caller that passes `until` as the next `since` gets each exactly once. If one answer cannot
 * contain all, the earliest come first.
 */
export const listNotices = (ctx: UserContext, since: Date | undefined): Promise<Notices> =>
  withSharedLock(ctx, async (tx, now) => {
    const from = new Date(Math.max(since?.getTime() ?? 0, now.getTime() - listedForMs));
    const rows = await tx.run(dueBetween, { userId: ctx.actor.id, from, to: now });
    const cut = rows[maxNotices]?.dueAt;
    const listed = cut ? rows.filter(({ dueAt }) => dueAt < cut) : rows;
    return {
      notices: listed.toReversed().map((row) => ({ ...row, kind: 'reminder-due', at: row.dueAt })),
      until: cut ? new Date(cut.getTime() - 1) : now,
    };
  });

const dueBetween = prepared<{ userId: string; from: Date; to: Date }>()('notices_between', (db) => {
  const isListed = ({ userId, dueAt }: typeof reminders | typeof snoozedReminders) =>
    and(eq(userId, sql.placeholder('userId')), gt(dueAt, sql.placeholder('from')), lte(dueAt, sql.placeholder('to')));
  const current = db
    .select({
      id: reminders.occurrenceId,
      reminderId: reminders.id,
      title: reminders.title,
      dueAt: reminders.dueAt,
    })
    .from(reminders)
    .where(isListed(reminders));
  const snoozed = db
    .select({
      id: snoozedReminders.id,
      reminderId: snoozedReminders.reminderId,
      title: snoozedReminders.title,
      dueAt: snoozedReminders.dueAt,
    })
    .from(snoozedReminders)
    .where(isListed(snoozedReminders));
  // A union takes its column names from the first part.
  return unionAll(current, snoozed)
    .orderBy(sql`due_at`, sql`occurrence_id`)
    .limit(maxNotices + 1);
});
