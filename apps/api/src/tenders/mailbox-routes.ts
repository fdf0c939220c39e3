import { needs } from '@portal/domain/access';
import { ImapTest } from '@portal/domain/imap';
import { AlertMailbox } from '@portal/domain/tenders/alert-mailbox';
import { deleteAlertMailbox, getAlertMailbox, putAlertMailbox } from '@portal/usecases/tenders/mailbox/mailbox';
import { ReadableAlertMailboxInput } from '@portal/usecases/tenders/mailbox/mailbox-input';
import { testAlertMailbox } from '@portal/usecases/tenders/mailbox/test-mailbox';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['tenders'];
const access = needs('tender-radar', 'USE');

/** The mailbox an account gets alert mails of tender portals in. */
export function registerAlertMailbox(app: App): void {
  app.get(
    '/tenders/mailbox-alert',
    {
      config: { access },
      schema: {
        operationId: 'getAlertMailbox',
        tags,
        summary: 'Read the settings of the own alert mailbox',
        description: 'Nulls while nothing is set; the password is never shown.',
        response: { 200: AlertMailbox },
      },
    },
    (request) => getAlertMailbox(request.ctx),
  );

  app.put(
    '/tenders/mailbox-alert',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'] } },
      schema: {
        operationId: 'putAlertMailbox',
        tags,
        summary: 'Replace the settings of the own alert mailbox',
        description:
          'While active it is read right away and then every 10 minutes, the first time seven days back, 50 mails and a minute a run. Nothing in it is ever changed, not even a flag. Links of known portals in its mails become tenders that are listed for the caller alone until a public source shows them, too; no link is followed, and nothing else of a mail is kept. The host has to be at a public address and to show a valid certificate, of an authority the system trusts or of one in `caCertificatePem`. After three refused sign-ins in a row it is left alone until it is written once more. A missing, blank or masked password keeps the stored one, but only with the host, port, encryption and username it was stored for, or a safer encryption; otherwise it is 400 `SECRET_REQUIRED`. Null removes it.',
        body: ReadableAlertMailboxInput,
        response: { 200: AlertMailbox },
      },
    },
    (request) => putAlertMailbox(request.ctx, request.body),
  );

  app.delete(
    '/tenders/mailbox-alert',
    {
      config: { access },
      schema: {
        operationId: 'deleteAlertMailbox',
        tags,
        summary: 'Delete the own alert mailbox',
        description: 'Forgets where alert mails come in; the tenders they brought stay the caller’s.',
        response: { 204: NoContent },
      },
    },
    (request) => deleteAlertMailbox(request.ctx),
  );

  app.post(
    '/tenders/mailbox-alert/test',
    {
      config: { access, errors: { 400: ['SECRET_REQUIRED'], 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testAlertMailbox',
        tags,
        summary: 'Try an alert mailbox before saving it',
        description:
          'Signs in and opens the folder, within 20 s; nothing is changed. Trouble with the mailbox is part of the answer. A blank password takes the stored one, as long as it goes where it was stored for. Ten tries a minute, each in the audit log with the server it was for.',
        body: ReadableAlertMailboxInput,
        response: { 200: ImapTest },
      },
    },
    (request) => testAlertMailbox(request.ctx, request.body),
  );
}
