import { needs } from '@portal/domain/access';
import { ImapTest } from '@portal/domain/imap';
import { InvoiceMailbox } from '@portal/domain/invoices/mailbox';
import { deleteInvoiceMailbox, getInvoiceMailbox, putInvoiceMailbox } from '@portal/usecases/invoices/mailbox';
import { ReadableMailboxInput } from '@portal/usecases/invoices/mailbox';
import { startFetch } from '@portal/usecases/invoices/start-fetch';
import { testInvoiceMailbox } from '@portal/usecases/invoices/test-mailbox';
import { getRun } from '@portal/usecases/operations/get-run';
import { Run } from '../operations/work-routes.ts';
import { answerRun, StartedRun, waitsFor } from '../started-run.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['invoices'];
const use = needs('invoice-mailbox', 'USE');
const manage = needs('invoice-mailbox', 'MANAGE');

/** The settings of the invoice mailbox, and fetching invoices. */
export function registerInvoiceMailbox(app: App): void {
  app.get(
    '/invoices/mailbox',
    {
      config: { access: manage },
      schema: {
        operationId: 'getInvoiceMailbox',
        tags,
        summary: 'Read the settings of the invoice mailbox',
        description: 'Fields are null while nothing is set; the password is never returned.',
        response: { 200: InvoiceMailbox },
      },
    },
    (request) => getInvoiceMailbox(request.ctx),
  );

  app.put(
    '/invoices/mailbox',
    {
      config: { access: manage, errors: { 400: ['SECRET_REQUIRED'] } },
      schema: {
        operationId: 'putInvoiceMailbox',
        tags,
        summary: 'Replace the settings of the invoice mailbox',
        description:
          'An active mailbox is read at once and then every 10 minutes. After three refused sign-ins in a row it is paused, so that the server does not lock the account; saving the settings again resumes it. Without `processedFolder` and `failedFolder` nothing in the mailbox is changed, not even a flag; with them a mail is moved after its documents were stored. The server must show a valid certificate from an authority that the system trusts or that is in `caCertificatePem`. A missing, blank or masked password keeps the stored one, but only with the host, port, encryption and username it was stored for, or a safer encryption; otherwise it is 400 `SECRET_REQUIRED`. Null removes it.',
        body: ReadableMailboxInput,
        response: { 200: InvoiceMailbox },
      },
    },
    (request) => putInvoiceMailbox(request.ctx, request.body),
  );

  app.delete(
    '/invoices/mailbox',
    {
      config: { access: manage },
      schema: {
        operationId: 'deleteInvoiceMailbox',
        tags,
        summary: 'Delete the invoice mailbox',
        description: 'Deletes the settings of the mailbox; invoices already fetched are kept.',
        response: { 204: NoContent },
      },
    },
    (request) => deleteInvoiceMailbox(request.ctx),
  );

  app.post(
    '/invoices/mailbox/test',
    {
      config: { access: manage, errors: { 400: ['SECRET_REQUIRED'], 429: ['RATE_LIMITED'] } },
      schema: {
        operationId: 'testInvoiceMailbox',
        tags,
        summary: 'Test an invoice mailbox before saving it',
        description:
          'Signs in, opens the folder and checks that the two other folders exist, within 20 s; nothing is changed. If the mailbox fails, the answer is still 200 and says why. If the password is blank, the stored one is used, but only for the server it was stored for. A tenant can make ten tests per minute; each is noted in the audit log with its server.',
        body: ReadableMailboxInput,
        response: { 200: ImapTest },
      },
    },
    (request) => testInvoiceMailbox(request.ctx, request.body),
  );

  app.post(
    '/invoices/fetch',
    {
      config: { access: use, errors: { 409: ['MAILBOX_NOT_CONFIGURED'], 429: ['POLL_LOCKED'] } },
      schema: {
        operationId: 'fetchInvoices',
        tags,
        summary: 'Fetch invoices now',
        description: `Answers 202 at once and continues in the background, even if the mailbox is switched off. If a run is already in progress, its id is returned. Allowed once every ten seconds per tenant, otherwise 429 \`POLL_LOCKED\`. For a paused mailbox the run fails at once and says what to do. A run reads at most 20 mails within one minute, and its counts are numbers of mails; the remaining mails follow at once in another run. ${waitsFor('it')}`,
        response: {
          200: Run,
          202: StartedRun,
        },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const started = await startFetch(ctx);
      return answerRun(request, reply, started, { scope: ctx, result: () => getRun(ctx, started.runId) });
    },
  );
}
