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

const isThisDueTime = and(
  eq(reminders.id, sql.placeholder('reminderId')),
  eq(reminders.occurrenceId, sql.placeholder('occurrenceId')),
);

const reminderToMail = prepared<Data>()('reminder_to_mail', (db) =>
  db
    .select({ title: reminders.title, note: reminders.note, dueAt: reminders.dueAt })
    .from(reminders)
    .where(and(isThisDueTime, isNull(reminders.doneAt))),
);

const traceOfMail = prepared<Data & { tries: number; isSent: boolean }>()('reminder_mail_trace', (db) =>
  db
    .update(reminders)
    .set({
      emailAttempts: sql`${sql.placeholder('tries')}::int`,
      emailSentAt: sql`case when ${sql.placeholder('isSent')}::boolean then now() end`,
    })
    .where(isThisDueTime)
    .returning({ id: reminders.id }),
);

/** The due time had come when the mail was promised. One that was snoozed, done or deleted since needs none any more. */
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
  async remember(tx, { data, tries, outcome }) {
    if (outcome !== 'dropped') await tx.run(traceOfMail, { ...data, tries, isSent: outcome === 'sent' });
  },
});
