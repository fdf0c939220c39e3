import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import {
  NewReminder,
  Reminder,
  ReminderChange,
  ReminderNotice,
  ReminderState,
  Snooze,
} from '@portal/domain/reminders/reminders';
import { Instant } from '@portal/domain/time';
import { reminderEmailStatus } from '@portal/usecases/reminders/email-status';
import { listNotices } from '@portal/usecases/reminders/notices';
import {
  createReminder,
  deleteReminder,
  finishReminder,
  listReminders,
  snoozeReminder,
  updateReminder,
} from '@portal/usecases/reminders/reminders';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['reminders'];

/** A user's own reminders, and notifications of those that became due since the client's last request. */
export function registerReminders(app: App): void {
  app.get(
    '/reminders',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listReminders',
        tags,
        summary: 'List your own reminders',
        description:
          'Sorted by due time, earliest first. `open` includes everything that is not done, due or not. Returns at most 1,000 reminders; for `done` these are the latest, which are kept for 30 days.',
        querystring: z.object({ state: ReminderState.default('open') }),
        response: { 200: z.array(Reminder) },
      },
    },
    (request) => listReminders(request.ctx, request.query.state),
  );

  app.post(
    '/reminders',
    {
      config: { access: signedIn, errors: { 409: ['LIMIT_REACHED'] } },
      schema: {
        operationId: 'createReminder',
        tags,
        summary: 'Create a reminder',
        description:
          'At its due time the reminder appears as a notification. With `emailEnabled`, the portal also sends one mail, unless the account is inactive or has no address by then, or no mail server is configured. A user has at most 1,000 reminders that are not done.',
        body: NewReminder,
        response: { 201: Reminder },
      },
    },
    (request) => createReminder(request.ctx, request.body),
  );

  app.get(
    '/reminders/email-status',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'reminderEmailStatus',
        tags,
        summary: 'Check whether reminder mails can reach you',
        description: 'Your account needs an e-mail address, and the tenant or the service needs a mail server.',
        response: {
          200: z
            .object({ available: z.boolean(), reason: z.enum(['NO_ADDRESS', 'MAIL_NOT_CONFIGURED']).nullable() })
            .meta({ example: { available: true, reason: null } }),
        },
      },
    },
    (request) => reminderEmailStatus(request.ctx),
  );

  app.get(
    '/reminders/notifications',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listNotices',
        tags,
        summary: 'List notifications of due reminders',
        description:
          'Notifications of the last 14 days, newest first; each due time has one. The portal keeps the latest 2,000 snoozed due times. The notifications of a deleted reminder are deleted, too. Send the header `X-Server-Time` of an answer as `since` of the next call, so that no notification is missed or repeated, even if the client’s clock is wrong. An answer has at most 2,000 entries; if there are more, it has the earliest ones, and `X-Server-Time` says where to continue.',
        querystring: z.object({
          since: Instant.optional().describe(
            '`X-Server-Time` of the previous answer; only later notifications are listed',
          ),
        }),
        response: { 200: z.array(ReminderNotice) },
      },
    },
    async (request, reply) => {
      const { notices, until } = await listNotices(request.ctx, request.query.since);
      reply.header('x-server-time', until.toISOString());
      return notices;
    },
  );

  app.patch(
    '/reminders/:id',
    {
      config: { access: signedIn, errors: { 409: ['REMINDER_DUE', 'REMINDER_DONE'] } },
      schema: {
        operationId: 'updateReminder',
        tags,
        summary: 'Change a reminder that is not due',
        description:
          'Changes only the fields that are sent. Null is refused; an empty `note` removes the note. For a new due time the portal can send a new mail. A reminder that is due can only be snoozed or marked as done.',
        params: ById,
        body: ReminderChange,
        response: { 200: Reminder },
      },
    },
    (request) => updateReminder(request.ctx, request.params.id, request.body),
  );

  app.delete(
    '/reminders/:id',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'deleteReminder',
        tags,
        summary: 'Delete a reminder',
        description:
          'Works in every state. Its notifications are deleted, too, and a mail that was not sent yet is cancelled.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteReminder(request.ctx, request.params.id),
  );

  app.post(
    '/reminders/:id/snooze',
    {
      config: { access: signedIn, errors: { 409: ['REMINDER_NOT_DUE'] } },
      schema: {
        operationId: 'snoozeReminder',
        tags,
        summary: 'Snooze a due reminder',
        description:
          'Send exactly one of `minutes` (from now), `preset` and `until`. Presets are in Berlin time: `thisEvening` is the next 18:00, `tomorrowMorning` is 08:00, `nextWeek` is Monday 08:00 of the following calendar week. For the new due time the portal can send a new mail.',
        params: ById,
        body: Snooze,
        response: { 200: Reminder },
      },
    },
    (request) => snoozeReminder(request.ctx, request.params.id, request.body),
  );

  app.post(
    '/reminders/:id/done',
    {
      config: { access: signedIn, errors: { 409: ['REMINDER_NOT_DUE'] } },
      schema: {
        operationId: 'finishReminder',
        tags,
        summary: 'Mark a due reminder as done',
        description: 'A second call has the same answer. A mail that was not sent yet is cancelled.',
        params: ById,
        response: { 200: Reminder },
      },
    },
    (request) => finishReminder(request.ctx, request.params.id),
  );
}
