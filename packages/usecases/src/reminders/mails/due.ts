import { and, eq, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { prepared } from '@portal/db/prepared';
import { reminders } from '@portal/db/schema/reminders';
import { Id } from '@portal/domain/ids';
import { mailTime } from '@portal/mail/mail-time';
import { reminderDue as template } from '@portal/mail/templates/reminders/due';
import { defineMail } from '@portal/platform/outbox/mail';

const Data = z.object({ reminderId: Id, occurrenceId: Id });
type Data = z.output<typeof Data>;

const reminderToMail = prepared<Data>()('reminder_to_mail', (db) =>
  db
    .select({ title: reminders.title, note: reminders.note, dueAt: reminders.dueAt })
    .from(reminders)
    .where(
      and(
        eq(reminders.id, sql.placeholder('reminderId')),
        eq(reminders.occurrenceId, sql.placeholder('occurrenceId')),
        isNull(reminders.doneAt),
      ),
    ),
);

/** Parallel lists with one entry for each mail. */
interface Traces extends Record<string, unknown[]> {
  reminderIds: string[];
  occurrenceIds: string[];
  tries: number[];
  areSent: boolean[];
}

const tracesOfMails = prepared<Traces>()('reminder_mail_traces', (db) =>
  db
    .update(reminders)
    .set({ emailAttempts: sql`trace.tries`, emailSentAt: sql`case when trace.is_sent then now() end` })
    .from(
      sql`unnest(${sql.placeholder('reminderIds')}::uuid[], ${sql.placeholder('occurrenceIds')}::uuid[],
        ${sql.placeholder('tries')}::int[], ${sql.placeholder('areSent')}::boolean[])
        trace (reminder_id, occurrence_id, tries, is_sent)`,
    )
    .where(and(eq(reminders.id, sql`trace.reminder_id`), eq(reminders.occurrenceId, sql`trace.occurrence_id`)))
    .returning({ id: reminders.id }),
);

/** The reminder was due when the mail was queued. If it was snoozed, done or deleted since, the mail is dropped. */
export const reminderDueMail = defineMail({
  kind: 'reminders/due',
  template,
  data: Data,
  isAwaited: false,
  maxADay: 100,
  retryAfterSec: [30, 120],
  async prepare(ctx, { recipient }, data) {
    const [reminder] = await ctx.run(reminderToMail, data);
    if (!reminder) return null;
    return {
      tenantName: recipient.tenantName,
      serviceUrl: ctx.config.http.publicUrl,
      displayName: recipient.displayName,
      title: reminder.title,
      note: reminder.note,
      dueAt: mailTime(reminder.dueAt),
    };
  },
  async remember(tx, attempts) {
    const attempted = attempts.filter(({ outcome }) => outcome !== 'dropped' && outcome !== 'withheld');
    if (attempted.length === 0) return;
    await tx.run(tracesOfMails, {
      reminderIds: attempted.map(({ data }) => data.reminderId),
      occurrenceIds: attempted.map(({ data }) => data.occurrenceId),
      tries: attempted.map(({ tries }) => tries),
      areSent: attempted.map(({ outcome }) => outcome === 'sent'),
    });
  },
});
