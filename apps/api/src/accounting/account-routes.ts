import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { AccountChange, AccountImport, AccountInput, MerchandiseAccount } from '@portal/domain/accounting/merchandise';
import { PathId } from '@portal/domain/ids';
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
import { type App, NoContent } from '../zod-app.ts';

const tags = ['merchandise-export'];
const manage = needs('merchandise-export', 'MANAGE');
const params = z.object({ id: PathId });
const versionHeader = 'x-list-version';

/** The accounts merchandise goes to. */
export function registerMerchandiseAccounts(app: App): void {
  app.get(
    '/accounting/merchandise/accounts',
    {
      config: { access: needs('merchandise-export', 'USE') },
      schema: {
        operationId: 'listMerchandiseAccounts',
        tags,
        summary: 'List the accounts',
        description: 'By number. `X-List-Version` rises with every change of the list.',
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
          'Number and name are each in the list once; names compare without regard to case. `X-List-Version` is that of the list with it. At most 20,000 accounts.',
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
        summary: 'The accounts as a file',
        description:
          'CSV `Konto;Name` in UTF-8 with a mark. A name that a spreadsheet would run stands behind an apostrophe, which an import takes away again.',
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
          summary: 'Replace the accounts by those of a file',
          description:
            'CSV `Konto;Name` in UTF-8 or Windows-1252, in the field `file`; all of it or nothing. Accounts whose number stays keep their id. With `dryRun=true` it only says what would be done. 120 uploads a minute for each user.',
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
        description: 'Changes what is named.',
        params,
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
        description: 'Files that were made with it stay as they are.',
        params,
        response: { 204: NoContent },
      },
    },
    (request) => deleteAccount(request.ctx, request.params.id),
  );
}
