import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { Id, PathId } from '@portal/domain/ids';
import { Invoice, InvoiceChange, InvoiceSearch, InvoiceState } from '@portal/domain/invoices/invoices';
import { getDocument, getInvoice, listInvoices, openDocument, updateInvoice } from '@portal/usecases/invoices/invoices';
import { sendFile } from '../files.ts';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['invoices'];
const access = needs('invoice-mailbox', 'USE');
const ById = z.object({ id: PathId });

/** What came in. */
export function registerInvoiceList(app: App): void {
  app.get(
    '/invoices',
    {
      config: { access },
      schema: {
        operationId: 'listInvoices',
        tags,
        summary: 'List the invoices',
        description:
          'Those that came in last first. `search` looks at number, seller and file names, whatever the case. The same document is there once, however often it came; another one with the same seller, number, date and total is a `duplicate` that names the first. XML and PDF of one mail with one number are one invoice with two files.',
        querystring: z.object({
          state: InvoiceState.optional(),
          search: InvoiceSearch.optional(),
          ...pageQuery({ after: Id }),
        }),
        response: { 200: z.array(Invoice) },
      },
    },
    async (request, reply) => {
      const { cursor, ...filter } = request.query;
      return sendPage(reply, await listInvoices(request.ctx, { ...filter, after: cursor }));
    },
  );

  app.get(
    '/invoices/:id',
    {
      config: { access },
      schema: {
        operationId: 'getInvoice',
        tags,
        summary: 'Read an invoice',
        description: 'What its document says; null is what it does not say.',
        params: ById,
        response: { 200: Invoice },
      },
    },
    (request) => getInvoice(request.ctx, request.params.id),
  );

  app.get(
    '/invoices/:id/document',
    {
      config: { access },
      schema: {
        operationId: 'getInvoiceDocument',
        tags,
        summary: 'The document of an invoice',
        description:
          'Byte for byte as it came, to be saved; nothing in it can run in a browser. `file` is the place among `files`, the first unless given. Nothing to be found for a mail that was too large to be kept.',
        params: ById,
        querystring: z.object({ file: z.coerce.number().int().min(0).max(1_000).default(0) }),
        produces: ['application/xml', 'application/pdf', 'application/octet-stream'],
        response: { 200: z.any().describe('The document'), 304: NoContent },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const document = await getDocument(ctx, request.params.id, request.query.file);
      // A file is never written to again, so its name names its bytes.
      const tag = document.path.split('/').at(-1) ?? document.path;
      return sendFile(request, reply, { type: document.type, tag, saveAs: document.fileName }, () =>
        openDocument(ctx, document),
      );
    },
  );

  app.patch(
    '/invoices/:id',
    {
      config: { access },
      schema: {
        operationId: 'updateInvoice',
        tags,
        summary: 'Mark an invoice as processed, or as new again',
        description:
          'Also one that is a duplicate or could not be read: `duplicateOf` and `error` go on saying so. Noted in the audit log.',
        params: ById,
        body: InvoiceChange,
        response: { 200: Invoice },
      },
    },
    (request) => updateInvoice(request.ctx, request.params.id, request.body),
  );
}
