import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { Assignments, MerchandisePreview, MerchandiseSettings } from '@portal/domain/accounting/merchandise';
import { Month } from '@portal/domain/accounting/month';
import { uploadMaxBytes } from '@portal/usecases/accounting/limits';
import { exportMerchandise, previewMerchandise } from '@portal/usecases/accounting/merchandise';
import { getMerchandiseSettings, putMerchandiseSettings } from '@portal/usecases/accounting/merchandise-settings';
import { sendJson, sendMadeFile } from '../files.ts';
import { acceptForms, formFile, formJson, readForm } from '../uploads.ts';
import type { App } from '../zod-app.ts';

const tags = ['merchandise-export'];
const access = needs('merchandise-export', 'USE');

const file = formFile(uploadMaxBytes);
const fileFaults = ['FILE_UNREADABLE', 'TOO_MANY_ROWS'] as const;
// 20,000 names of 60 characters.
const assignmentsMaxBytes = 4 * 1024 * 1024;

const inputDescription =
  'An XLSX file of at most 10 MiB, 50 MiB unpacked and 20,000 rows. Only the first visible sheet is read: B1 is the header; from row 2 on, column A names an account by number or name, and column B has an amount, as a number or as text in German notation. Nothing of the file is stored. Each user can make 120 uploads per minute.';

/** Converts a list of merchandise to a file for financial accounting. */
export function registerMerchandise(app: App): void {
  app.get(
    '/accounting/merchandise/settings',
    {
      config: { access },
      schema: {
        operationId: 'getMerchandiseSettings',
        tags,
        summary: 'Show the settings of the merchandise export',
        description: 'Returns the defaults until an administrator sets other values.',
        response: { 200: MerchandiseSettings },
      },
    },
    (request) => getMerchandiseSettings(request.ctx),
  );

  app.put(
    '/accounting/merchandise/settings',
    {
      config: { access: needs('merchandise-export', 'ADMIN') },
      schema: {
        operationId: 'putMerchandiseSettings',
        tags,
        summary: 'Replace the settings of the merchandise export',
        description:
          'Fields that are left out are reset to their defaults. `extf` needs `beraternummer`, `mandantennummer` and `defaultContraAccount`.',
        body: MerchandiseSettings,
        response: { 200: MerchandiseSettings },
      },
    },
    (request) => putMerchandiseSettings(request.ctx, request.body),
  );

  acceptForms(app, (scope) => {
    scope.post(
      '/accounting/merchandise/preview',
      {
        config: { access, errors: { 400: [...fileFaults], 429: ['RATE_LIMITED'] } },
        schema: {
          operationId: 'previewMerchandise',
          tags,
          summary: 'Check a list of merchandise',
          description: `${inputDescription} Rows with faults are listed under \`errors\`, names that are missing in the account list are marked \`isNew\`; faults of the whole file answer 400.`,
          body: z.object({ file }).meta({ example: { file: '(bytes)' } }),
          response: { 200: MerchandisePreview },
        },
      },
      async (request, reply) => {
        const { file } = await readForm(request);
        return sendJson(reply, await previewMerchandise(request.ctx, file.bytes));
      },
    );

    scope.post(
      '/accounting/merchandise/export',
      {
        // Less than both maxima together: a request with thousands of assignments must send a smaller list.
        bodyLimit: uploadMaxBytes + 768 * 1024,
        config: {
          access,
          errors: {
            400: [...fileFaults, 'ROW_ERRORS', 'PERIOD_REQUIRED', 'NOTHING_TO_EXPORT'],
            409: ['ACCOUNTS_STALE', 'SETTINGS_INCOMPLETE', 'LIMIT_REACHED'],
            429: ['RATE_LIMITED'],
          },
        },
        schema: {
          operationId: 'exportMerchandise',
          tags,
          summary: 'Export a list of merchandise',
          description: `${inputDescription} Returns the file, in Windows-1252: one line per account, by number, without accounts whose sum is zero. Names that are missing in the account list need a number in \`assignments\`; the export adds them to the account list. 409 \`ACCOUNTS_STALE\` says in \`details\` what changed in the list since the preview. \`period\` is for lists whose cell B1 names no month. The export is noted in the audit log.`,
          body: z
            .object({
              file,
              accountsVersion: z
                .string()
                .regex(/^\d{1,9}$/, 'must be a whole number')
                .transform(Number)
                .describe('`accountsVersion` of the preview'),
              assignments: formJson(Assignments, assignmentsMaxBytes).default([]),
              period: Month.optional(),
            })
            .meta({
              example: {
                file: '(bytes)',
                accountsVersion: '7',
                assignments: JSON.stringify([{ name: 'Tassen', number: '8401' }]),
                period: '2026-11',
              },
            }),
          produces: ['text/plain', 'text/csv'],
          response: { 200: z.any().describe('The file') },
        },
      },
      async (request, reply) => {
        const { file, period, ...input } = await readForm(request);
        const { name, bytes } = await exportMerchandise(request.ctx, {
          ...input,
          bytes: file.bytes,
          period: period ?? null,
        });
        const type = name.endsWith('.csv') ? 'text/csv' : 'text/plain';
        return sendMadeFile(reply, { name, bytes, type: `${type}; charset=windows-1252` });
      },
    );
  });
}
