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

/** How a tenant's mail leaves the house, and the words of its welcome mail. */
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
          'Nulls while nothing is set; the password is never shown. Without an own server, and to accounts of SUPER_ADMINs always, mails leave over the service’s own server: at most `dailyLimit` a day, of which the last tenth is kept for mails people wait for, and at most 100 reminder mails to one account. What exceeds that is not sent and counts in `heldBackToday`; an audit entry says when the limit was first reached on a day.',
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
          'Without a host the service’s own mail server is used, and for accounts of SUPER_ADMINs always. The next mail leaves by the new settings. A missing, blank or masked password keeps the stored one, but only with the host, port, encryption and username it was stored for, or a safer encryption; otherwise it is 400 `SECRET_REQUIRED`. Null removes it.',
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
        summary: 'Try mail settings before saving them',
        description:
          'Sends a test mail to `to`, else to your own address; without either it only signs in. A test over the service’s own server counts towards the daily limit. A blank password takes the stored one, as long as it goes where it was stored for. What went wrong is said in a plain sentence. Ten tries a minute for a tenant, each in the audit log with the server it was for.',
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
        summary: 'Read the words of the welcome mail',
        description: 'The tenant’s own, or the built-in ones. A hint of null is the built-in hint.',
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
        summary: 'Replace the words of the welcome mail',
        description:
          'Plain text with the placeholders {{name}}, {{vorname}}, {{benutzername}}, {{email}}, {{adresse}} and {{firma}}; HTML stays text. An empty hint is stored as null.',
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
        summary: 'Go back to the built-in welcome mail',
        description: 'Forgets the tenant’s own words.',
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
        summary: 'See the welcome mail before saving its words',
        description: 'Rendered for a sample person, with your own tenant as `firma`.',
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
        summary: 'Send these words to yourself',
        description:
          'With a link to the sign-in page and no token. Waits up to 15 s; later than that the mail may still arrive.',
        body: Template,
        response: {
          200: z.object({ sent: z.boolean(), reason: z.string().optional() }).meta({ example: { sent: true } }),
        },
      },
    },
    (request) => testWelcomeMail(request.ctx, request.body),
  );
}
