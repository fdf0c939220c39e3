import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { PathId } from '@portal/domain/ids';
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
import { type App, NoContent } from '../zod-app.ts';

const tags = ['reminders'];
const params = z.object({ id: PathId });

/** Own reminders: what is due, what to do about it, and what became due since a client last asked. */
export function registerReminders(app: App): void {
  app.get(
    '/reminders',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listReminders',
        tags,
        summary: 'List own reminders',
        description:
          'By due time, earliest first. `open` is everything not done, due or not. At most 1,000; of done ones the latest, which are kept for 30 days.',
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
          'At its due time it becomes a notice and, with `emailEnabled`, one mail, unless by then the account is inactive or without an address or no mail server is configured. A user has at most 1,000 reminders not done.',
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
        summary: 'Ask whether reminder mails can reach you',
        description: 'They need an address of your account and a mail server of the tenant or the service.',
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
        summary: 'List what became due',
        description:
          'Newest first, each due time once, within the last 14 days; a deleted reminder’s notices are gone with it. Send the header `X-Server-Time` of an answer as `since` of the next call: nothing is missed and nothing comes twice, whatever the client’s clock says. An answer holds at most 2,000; of more, the earliest come first and `X-Server-Time` says where to go on.',
        querystring: z.object({
          since: Instant.optional().describe('`X-Server-Time` of the answer before; only later notices are listed'),
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
          'Changes what it names; null is refused, an empty note is none. A new due time starts with no mail sent. Once it is due, snooze it or mark it as done.',
        params,
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
        description: 'In every state. Its notices go with it, and a mail not sent yet is not sent.',
        params,
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
          'By minutes from now, to a preset or until a time: exactly one of them. Presets are Berlin times: `thisEvening` the next 18:00, `tomorrowMorning` 08:00, `nextWeek` Monday 08:00 of the following calendar week. The new due time starts with no mail sent.',
        params,
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
        description: 'A second call answers the same. A mail not sent yet is not sent.',
        params,
        response: { 200: Reminder },
      },
    },
    (request) => finishReminder(request.ctx, request.params.id),
  );
}
