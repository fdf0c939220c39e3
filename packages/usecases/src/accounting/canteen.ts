import type { UserContext } from '@portal/platform/context';
import { taskOf } from '@portal/platform/sandbox/task';
import { recordAudit } from './audit.ts';
import type { PayrollFile, run as exportRun } from './canteen-export-task.ts';
import type { CanteenInput, run as previewRun } from './canteen-preview-task.ts';
import { getCanteenSettings } from './canteen-settings.ts';
import { taskLimits, workOnUpload } from './work-on-upload.ts';

const previewTask = taskOf<typeof previewRun>(new URL('canteen-preview-task.ts', import.meta.url), taskLimits);
const exportTask = taskOf<typeof exportRun>(new URL('canteen-export-task.ts', import.meta.url), taskLimits);

/**
 * The preview of a canteen's list, as the JSON of a CanteenPreview. The sandbox process serializes it, because it may be large. Nothing is
 * stored. Throws 400 with the code of a fault of the whole file, 429 and 503.
 */
export async function previewCanteen(ctx: UserContext, input: CanteenInput): Promise<Uint8Array> {
  const preview = await workOnUpload(ctx, previewTask, input);
  ctx.log.info({ requestId: ctx.requestId, bytes: input.bytes.length }, 'a canteen list was read');
  return preview;
}

/**
 * The payroll file of a canteen's list. Stores only an audit entry. Throws like `previewCanteen`, and 400 `ROW_ERRORS`, `SUM_NEGATIVE` and
 * `NOTHING_TO_EXPORT`, 409 `SETTINGS_INCOMPLETE`.
 */
export async function exportCanteen(
  ctx: UserContext,
  input: CanteenInput & { allowNegative: boolean },
): Promise<PayrollFile> {
  const file = await workOnUpload(ctx, exportTask, { ...input, settings: await getCanteenSettings(ctx) });
  const { rows, people } = file;
  await ctx.tx((tx) =>
    recordAudit(tx, ctx, {
      action: 'canteen.export',
      tenantId: ctx.tenantId,
      target: { type: 'module', id: 'canteen-billing' },
      summary: `Exported canteen billing for ${input.month}: ${rows} rows, ${people} people.`,
    }),
  );
  ctx.log.info({ requestId: ctx.requestId, rows, people }, 'a payroll file was created');
  return file;
}
