import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { AccountChange, AccountImport, AccountInput, MerchandiseAccount } from '@portal/domain/accounting/merchandise';
import {
  createAccount,
  deleteAccount,
  exportAccounts,
  importAccounts,
  listAccounts,
  updateAccount,
} from '@portal/usecases/accounting/accounts';
import { uploadMaxBytes } from '@portal/usecases/accounting/limits';
import { sendMadeFile } from '../files.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['merchandise-export'];
const manage = needs('merchandise-export', 'MANAGE');
const versionHeader = 'x-list-version';

/** The accounts of the merchandise export. */
export function registerMerchandiseAccounts(app: App): void {
  app.get(
    '/accounting/merchandise/accounts',
    {
      config: { access: needs('merchandise-export', 'USE') },
      schema: {
        operationId: 'listMerchandiseAccounts',
        tags,
        summary: 'List the accounts',
        description: 'Accounts by number. `X-List-Version` rises with every change of the list.',
        response: { 200: z.array(MerchandiseAccount) },
      },
    },
    async (request, reply) => {
      const { version, accounts } = await listAccounts(request.ctx);
      reply.header(versionHeader, version);
      return accounts;
    },
  );

  app.post(
    '/accounting/merchandise/accounts',
    {
      config: { access: manage, errors: { 409: ['CONFLICT', 'LIMIT_REACHED'] } },
      schema: {
        operationId: 'createMerchandiseAccount',
        tags,
        summary: 'Add an account',
        description:
          'Number and name must each be unique in the list; names are compared regardless of case. `X-List-Version` is the version of the list with the new account. A list has at most 20,000 accounts.',
        body: AccountInput,
        response: { 201: MerchandiseAccount },
      },
    },
    async (request, reply) => {
      const { version, account } = await createAccount(request.ctx, request.body);
      reply.header(versionHeader, version);
      return account;
    },
  );

  app.get(
    '/accounting/merchandise/accounts/export',
    {
      config: { access: manage },
      schema: {
        operationId: 'exportMerchandiseAccounts',
        tags,
        summary: 'Download the accounts as a file',
        description:
          'CSV `Konto;Name` in UTF-8 with a byte order mark. A name that a spreadsheet program would execute as a formula starts with an apostrophe, which an import removes again.',
        produces: ['text/csv'],
        response: { 200: z.any().describe('The file') },
      },
    },
    async (request, reply) =>
      sendMadeFile(reply, { ...(await exportAccounts(request.ctx)), type: 'text/csv; charset=utf-8' }),
  );

  acceptForms(app, (scope) => {
    scope.post(
      '/accounting/merchandise/accounts/import',
      {
        config: {
          access: manage,
          errors: {
            400: ['ENCODING_UNSUPPORTED', 'HEADER_MISSING', 'FILE_UNREADABLE', 'TOO_MANY_ROWS', 'ROW_ERRORS'],
            429: ['RATE_LIMITED'],
          },
        },
        schema: {
          operationId: 'importMerchandiseAccounts',
          tags,
          summary: 'Replace the accounts with those of a file',
          description:
            'Send a CSV file `Konto;Name` in UTF-8 or Windows-1252 in the field `file`. Either the whole file is imported or nothing. Accounts whose number stays the same keep their id. With `dryRun=true` nothing is changed, and the answer has the counts that the import would have. Each user can make 120 uploads per minute.',
          querystring: z.object({
            dryRun: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false),
          }),
          body: FileForm('file', uploadMaxBytes),
          response: { 200: AccountImport },
        },
      },
      async (request) => {
        const { file } = await readForm(request);
        return importAccounts(request.ctx, file.bytes, { isTrial: request.query.dryRun });
      },
    );
  });

  app.patch(
    '/accounting/merchandise/accounts/:id',
    {
      config: { access: manage, errors: { 409: ['CONFLICT'] } },
      schema: {
        operationId: 'updateMerchandiseAccount',
        tags,
        summary: 'Change an account',
        description: 'Changes only the fields that are sent.',
        params: ById,
        body: AccountChange,
        response: { 200: MerchandiseAccount },
      },
    },
    async (request, reply) => {
      const { version, account } = await updateAccount(request.ctx, request.params.id, request.body);
      reply.header(versionHeader, version);
      return account;
    },
  );

  app.delete(
    '/accounting/merchandise/accounts/:id',
    {
      config: { access: manage },
      schema: {
        operationId: 'deleteMerchandiseAccount',
        tags,
        summary: 'Delete an account',
        description: 'Files exported earlier are not affected.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteAccount(request.ctx, request.params.id),
  );
}
