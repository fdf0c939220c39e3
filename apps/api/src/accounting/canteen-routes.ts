import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { CanteenPreview, CanteenSettings } from '@portal/domain/accounting/canteen';
import { Month } from '@portal/domain/accounting/month';
import { exportCanteen, previewCanteen } from '@portal/usecases/accounting/canteen';
import { getCanteenSettings, putCanteenSettings } from '@portal/usecases/accounting/canteen-settings';
import { uploadMaxBytes } from '@portal/usecases/accounting/limits';
import { sendJson, sendMadeFile } from '../files.ts';
import { acceptForms, formFile, readForm } from '../uploads.ts';
import type { App } from '../zod-app.ts';

const tags = ['canteen-billing'];
const access = needs('canteen-billing', 'USE');

const upload = { file: formFile(uploadMaxBytes), month: Month.describe('The payroll month') };
const example = { file: '(bytes)', month: '2026-11' };
const fileFaults = ['ENCODING_UNSUPPORTED', 'HEADER_MISSING', 'FILE_UNREADABLE', 'TOO_MANY_ROWS'] as const;

const inputDescription =
  'A CSV file of at most 10 MiB and 100,000 rows, in UTF-8 (with or without a byte order mark) or Windows-1252. Delimiter (`;`, tab, `,` or `|`) and header are detected. The header must have a personnel number (`Personalnummer`, `PersNr` …) and an amount (`Betrag`, `Summe`, `Umsatz` …), and may have `Name` or `Vorname` and `Nachname`, and `Datum`. Nothing of the file is stored. Each user can make 120 uploads per minute.';

/** Converts a canteen's list to a payroll file. */
export function registerCanteen(app: App): void {
  app.get(
    '/accounting/canteen/settings',
    {
      config: { access },
      schema: {
        operationId: 'getCanteenSettings',
        tags,
        summary: 'Show the settings of canteen billing',
        description: '`beraternummer`, `mandantennummer` and `lohnart` are empty until they are set.',
        response: { 200: CanteenSettings },
      },
    },
    (request) => getCanteenSettings(request.ctx),
  );

  app.put(
    '/accounting/canteen/settings',
    {
      config: { access: needs('canteen-billing', 'MANAGE') },
      schema: {
        operationId: 'putCanteenSettings',
        tags,
        summary: 'Replace the settings of canteen billing',
        description:
          'Fields that are left out are reset to their defaults. Payroll offices expect different values of `sign`: test the first file with your payroll office.',
        body: CanteenSettings,
        response: { 200: CanteenSettings },
      },
    },
    (request) => putCanteenSettings(request.ctx, request.body),
  );

  acceptForms(app, (scope) => {
    scope.post(
      '/accounting/canteen/preview',
      {
        config: { access, errors: { 400: [...fileFaults], 429: ['RATE_LIMITED'] } },
        schema: {
          operationId: 'previewCanteen',
          tags,
          summary: 'Check a canteen’s list',
          description: `${inputDescription} Rows with faults are listed under \`errors\`; faults of the whole file answer 400.`,
          body: z.object(upload).meta({ example }),
          response: { 200: CanteenPreview },
        },
      },
      async (request, reply) => {
        const { file, month } = await readForm(request);
        return sendJson(reply, await previewCanteen(request.ctx, { bytes: file.bytes, month }));
      },
    );

    scope.post(
      '/accounting/canteen/export',
      {
        config: {
          access,
          errors: {
            400: [...fileFaults, 'ROW_ERRORS', 'SUM_NEGATIVE', 'NOTHING_TO_EXPORT'],
            409: ['SETTINGS_INCOMPLETE'],
            429: ['RATE_LIMITED'],
          },
        },
        schema: {
          operationId: 'exportCanteen',
          tags,
          summary: 'Export the payroll file of a canteen’s list',
          description: `${inputDescription} Returns the import file for DATEV LODAS or Lohn und Gehalt, in Windows-1252: one line per person, by personnel number, without people whose sum is zero. A sum below zero is refused unless \`allowNegative\` confirms it. The export is noted in the audit log.`,
          body: z
            .object({
              ...upload,
              allowNegative: z
                .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' })
                .default(false)
                .describe('Confirms that sums below zero are correct'),
            })
            .meta({ example: { ...example, allowNegative: false } }),
          produces: ['text/plain'],
          response: { 200: z.any().describe('The payroll file') },
        },
      },
      async (request, reply) => {
        const { file, month, allowNegative } = await readForm(request);
        const { name, bytes } = await exportCanteen(request.ctx, { bytes: file.bytes, month, allowNegative });
        return sendMadeFile(reply, { name, bytes, type: 'text/plain; charset=windows-1252' });
      },
    );
  });
}
