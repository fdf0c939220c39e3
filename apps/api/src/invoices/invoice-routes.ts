import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { Id } from '@portal/domain/ids';
import { documentName } from '@portal/domain/invoices/document-name';
import { Invoice, InvoiceChange, InvoiceSearch, InvoiceState } from '@portal/domain/invoices/invoices';
import { getDocument, getInvoice, listInvoices, openDocument, updateInvoice } from '@portal/usecases/invoices/invoices';
import { fileTag, sendFile } from '../files.ts';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['invoices'];
const access = needs('invoice-mailbox', 'USE');

/** The received invoices. */
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
          'Newest first. `search` looks in number, seller and file names, regardless of case. The same document is listed once, however often it arrived. A different document with the same seller, number, date and total is a `duplicate`, and `duplicateOf` names the first one. An XML and a PDF with the same number in one mail are one invoice with two files.',
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
        description: 'The data of its document; fields that the document does not contain are null.',
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
        summary: 'Download the document of an invoice',
        description:
          'Returns the unchanged file as a download, so that nothing in it is executed by a browser. `file` is the index in `files`; default is the first file. 404 for a mail that was too large to be stored.',
        params: ById,
        querystring: z.object({ file: z.coerce.number().int().min(0).max(1_000).default(0) }),
        produces: ['application/xml', 'application/pdf', 'application/octet-stream'],
        response: { 200: z.any().describe('The document'), 304: NoContent },
      },
    },
    async (request, reply) => {
      const { ctx } = request;
      const document = await getDocument(ctx, request.params.id, request.query.file);
      const { type, path, fileName } = document;
      // Earlier releases stored documents under the sender’s file names.
      const saveAs = documentName(fileName, type);
      return sendFile(request, reply, { type, tag: fileTag(path), saveAs }, (partOf) =>
        openDocument(ctx, document, partOf),
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
          'Also works for a duplicate and for an invoice that could not be read; `duplicateOf` and `error` keep their values, and the invoice can get the state back that it was read with. 409 `CONFLICT` for a state that it never had. Noted in the audit log.',
        params: ById,
        body: InvoiceChange,
        response: { 200: Invoice },
      },
    },
    (request) => updateInvoice(request.ctx, request.params.id, request.body),
  );
}
