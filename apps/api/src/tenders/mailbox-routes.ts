import { needs } from '@portal/domain/access';
import { ImapTest } from '@portal/domain/imap';
import { AlertMailbox } from '@portal/domain/tenders/alert-mailbox';
import { deleteAlertMailbox, getAlertMailbox, putAlertMailbox } from '@portal/usecases/tenders/mailbox/mailbox';
import { ReadableAlertMailboxInput } from '@portal/usecases/tenders/mailbox/mailbox';
import { testAlertMailbox } from '@portal/usecases/tenders/mailbox/test-mailbox';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['tenders'];
const access = needs('tender-radar', 'USE');

/** The mailbox in which an account gets alert mails of tender portals. */
export function registerAlertMailbox(app: App): void {
  app.get(
    '/tenders/mailbox-alert',
    {
      config: { access },
      schema: {
        operationId: 'getAlertMailbox',
        tags,
        summary: 'Read the settings of your own alert mailbox',
        description: 'Fields are null while nothing is set; the password is never returned.',
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
        summary: 'Replace the settings of your own alert mailbox',
        description:
          'An active mailbox is read at once and then every 10 minutes. The first time, mails of the last seven days are read; a run reads at most 50 mails and takes at most a minute. Nothing in the mailbox is changed, not even a flag. Links of known portals in its mails become tenders; only the caller sees them until a public source lists them, too. No link is followed, and nothing else of a mail is stored. The host must have a public address and show a valid certificate from an authority that the system trusts or that is in `caCertificatePem`. After three refused sign-ins in a row the mailbox is not read any more until its settings are saved again. A missing, blank or masked password keeps the stored one, but only with the host, port, encryption and username it was stored for, or a safer encryption; otherwise it is 400 `SECRET_REQUIRED`. Null removes it.',
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
        summary: 'Delete your own alert mailbox',
        description: 'Deletes the settings of the mailbox; the caller keeps the tenders found in its mails.',
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
        summary: 'Test an alert mailbox before saving it',
        description:
          'Signs in and opens the folder, within 20 s; nothing is changed. If the mailbox fails, the answer is still 200 and says why. If the password is blank, the stored one is used, but only for the server it was stored for. A user can make ten tests per minute; each is noted in the audit log with its server.',
        body: ReadableAlertMailboxInput,
        response: { 200: ImapTest },
      },
    },
    (request) => testAlertMailbox(request.ctx, request.body),
  );
}
