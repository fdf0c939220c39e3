import { z } from 'zod';
import { role } from '@portal/domain/access';
import { SmtpConfig, SmtpConfigInput, SmtpTestInput } from '@portal/domain/mail-settings/smtp-config';
import { builtInWelcomeMail, WelcomeMailTemplate } from '@portal/domain/mail-settings/welcome-mail';
import { testWelcomeMail } from '@portal/usecases/accounts/welcome-mails';
import { deleteSmtpConfig, getSmtpConfig, putSmtpConfig } from '@portal/usecases/mail-settings/smtp-config';
import { testSmtpConfig } from '@portal/usecases/mail-settings/test-smtp-config';
import {
  deleteWelcomeTemplate,
  getWelcomeTemplate,
  previewWelcomeMail,
  putWelcomeTemplate,
} from '@portal/usecases/mail-settings/welcome-mail-template';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['mail-settings'];
const access = role('ADMIN');
const Template = WelcomeMailTemplate.meta({ id: 'WelcomeMailTemplate', example: builtInWelcomeMail });

/** A tenant's mail server and the texts of its welcome mail. */
export function registerMailSettings(app: App): void {
  app.get(
    '/smtp-config',
    {
      config: { access },
      schema: {
        operationId: 'getSmtpConfig',
        tags,
        summary: 'Read the mail settings',
        description:
          'Fields are null while nothing is set; the password is never returned. If the tenant has no mail server of its own, mails are sent over the service’s mail server; mails to accounts of SUPER_ADMINs always are. Over that server a tenant can send `dailyLimit` mails a day, the last tenth of them only for mails a user is waiting for, and at most 100 reminder mails a day to one account. Mails above a limit are not sent and are counted in `heldBackToday`; an audit entry is written when the limit is first reached on a day.',
        response: { 200: SmtpConfig },
      },
    },
    (request) => getSmtpConfig(request.ctx),
  );

  app.put(
    '/smtp-config',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'] } },
      schema: {
        operationId: 'putSmtpConfig',
        tags,
        summary: 'Replace the mail settings',
        description:
          'Without a host the service’s own mail server is used; for mails to accounts of SUPER_ADMINs it is always used. The new settings apply from the next mail on. A missing, blank or masked password keeps the stored one, but only with the host, port, encryption and username it was stored for, or a safer encryption; otherwise it is 400 `SECRET_REQUIRED`. Null removes it.',
        body: SmtpConfigInput,
        response: { 200: SmtpConfig },
      },
    },
    (request) => putSmtpConfig(request.ctx, request.body),
  );

  app.delete(
    '/smtp-config',
    {
      config: { access },
      schema: {
        operationId: 'deleteSmtpConfig',
        tags,
        summary: 'Delete the mail settings',
        description: 'The service’s own mail server is used again.',
        response: { 204: NoContent },
      },
    },
    (request) => deleteSmtpConfig(request.ctx),
  );

  app.post(
    '/smtp-config/test',
    {
      config: {
        access,
        errors: {
          400: ['SECRET_REQUIRED'],
          409: ['MAIL_NOT_CONFIGURED', 'LIMIT_REACHED'],
          429: ['RATE_LIMITED'],
          502: ['MAIL_DELIVERY_FAILED'],
        },
      },
      schema: {
        operationId: 'testSmtpConfig',
        tags,
        summary: 'Test mail settings before saving them',
        description:
          'Sends a test mail to `to`, or without it to your own address; if there is no address at all, it only signs in. A test over the service’s own server counts towards the daily limit. If the password is blank, the stored one is used, but only for the server it was stored for. If the test fails, a plain sentence says why. A tenant can make ten tests per minute; each is noted in the audit log with its server.',
        body: SmtpTestInput,
        response: { 200: z.object({ ok: z.literal(true) }).meta({ example: { ok: true } }) },
      },
    },
    (request) => testSmtpConfig(request.ctx, request.body),
  );

  app.get(
    '/welcome-mail/template',
    {
      config: { access },
      schema: {
        operationId: 'getWelcomeTemplate',
        tags,
        summary: 'Read the texts of the welcome mail',
        description:
          'Returns the tenant’s own texts, or the built-in ones. If the hint is null, the built-in hint is used.',
        response: { 200: Template },
      },
    },
    (request) => getWelcomeTemplate(request.ctx),
  );

  app.put(
    '/welcome-mail/template',
    {
      config: { access, errors: { 400: ['UNKNOWN_PLACEHOLDER'] } },
      schema: {
        operationId: 'putWelcomeTemplate',
        tags,
        summary: 'Replace the texts of the welcome mail',
        description:
          'Plain text with the placeholders {{name}}, {{vorname}}, {{benutzername}}, {{email}}, {{adresse}} and {{firma}}; HTML tags appear as text. An empty hint is stored as null.',
        body: Template,
        response: { 200: Template },
      },
    },
    (request) => putWelcomeTemplate(request.ctx, request.body),
  );

  app.delete(
    '/welcome-mail/template',
    {
      config: { access },
      schema: {
        operationId: 'deleteWelcomeTemplate',
        tags,
        summary: 'Restore the built-in welcome mail',
        description: 'Deletes the tenant’s own texts.',
        response: { 204: NoContent },
      },
    },
    (request) => deleteWelcomeTemplate(request.ctx),
  );

  app.post(
    '/welcome-mail/template/preview',
    {
      config: { access, errors: { 400: ['UNKNOWN_PLACEHOLDER'] } },
      schema: {
        operationId: 'previewWelcomeMail',
        tags,
        summary: 'Preview the welcome mail before saving its texts',
        description: 'Rendered for a sample person, with your own tenant as {{firma}}.',
        body: Template,
        response: {
          200: z.object({ subject: z.string(), html: z.string(), text: z.string() }).meta({
            example: {
              subject: 'Ihr Zugang zum Portal',
              html: '<!doctype html>…',
              text: 'Guten Tag Erika Beispiel, …',
            },
          }),
        },
      },
    },
    (request) => previewWelcomeMail(request.ctx, request.body),
  );

  app.post(
    '/welcome-mail/template/test',
    {
      config: { access, errors: { 400: ['UNKNOWN_PLACEHOLDER'], 409: ['NO_ADDRESS'] } },
      schema: {
        operationId: 'testWelcomeMail',
        tags,
        summary: 'Send these texts to yourself',
        description:
          'The mail has a link to the sign-in page, without a token. Waits up to 15 s; after that the mail may still arrive.',
        body: Template,
        response: {
          200: z.object({ sent: z.boolean(), reason: z.string().optional() }).meta({ example: { sent: true } }),
        },
      },
    },
    (request) => testWelcomeMail(request.ctx, request.body),
  );
}
