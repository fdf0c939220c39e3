import { and, eq, gt, lte, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import { prepared } from '@portal/db/prepared';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import { maxOpenReminders, type ReminderNotice } from '@portal/domain/reminders/reminders';
import { DAY } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { betweenTurns } from './user-lock.ts';

/** How long a notice is listed. */
const keptMs = 14 * DAY;
// No more than the open reminders of a user can share one due time, so a full answer always holds a whole one.
const maxNotices = 2 * maxOpenReminders;

export interface Notices {
  /** Newest first. */
  notices: ReminderNotice[];
  /** Where the next call goes on: everything due up to here has been listed. */
  until: Date;
}

/**
 * The due times of the caller that came after `since`, within the last 14 days. They are read off the reminders themselves, so
 * none waits for a worker and each stands there once. A caller that calls again with `until` as `since` meets every one exactly once;
 * of more than an answer holds, the earliest come first.
 */
export const listNotices = (ctx: UserContext, since: Date | undefined): Promise<Notices> =>
  betweenTurns(ctx, async (tx, now) => {
    const from = new Date(Math.max(since?.getTime() ?? 0, now.getTime() - keptMs));
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
  const standing = db
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
  // Of a union the columns go by the names of the first part.
  return unionAll(standing, snoozed)
    .orderBy(sql`due_at`, sql`occurrence_id`)
    .limit(maxNotices + 1);
});
