import type { UserContext } from '@portal/platform/context';
import { taskOf } from '@portal/platform/sandbox/task';
import { recordAudit } from './audit.ts';
import type { PayrollFile, run as exportRun } from './canteen-export-task.ts';
import type { CanteenOrder, run as previewRun } from './canteen-preview-task.ts';
import { getCanteenSettings } from './canteen-settings.ts';
import { taskLimits, workOnUpload } from './work-on-upload.ts';

const previewing = taskOf<typeof previewRun>(new URL('canteen-preview-task.ts', import.meta.url), taskLimits);
const exporting = taskOf<typeof exportRun>(new URL('canteen-export-task.ts', import.meta.url), taskLimits);

/**
 * What a canteen's list says, as the JSON of a CanteenPreview: written by the process that read it, because it may be large. Nothing is
 * kept. Throws 400 with the code of a fault of the whole file, 429 and 503.
 */
export async function previewCanteen(ctx: UserContext, order: CanteenOrder): Promise<Uint8Array> {
  const preview = await workOnUpload(ctx, previewing, order);
  ctx.log.info({ requestId: ctx.requestId, bytes: order.bytes.length }, 'a canteen list was read');
  return preview;
}

/**
 * The payroll file of such a list. Nothing but an audit entry is kept. Throws what a preview throws, 400 `ROW_ERRORS`, `SUM_NEGATIVE` and
 * `NOTHING_TO_EXPORT`, 409 `SETTINGS_INCOMPLETE`.
 */
export async function exportCanteen(
  ctx: UserContext,
  order: CanteenOrder & { allowNegative: boolean },
): Promise<PayrollFile> {
  const file = await workOnUpload(ctx, exporting, { ...order, settings: await getCanteenSettings(ctx) });
  const { rows, people } = file;
  await ctx.tx((tx) =>
    recordAudit(tx, ctx, {
      action: 'canteen.export',
      tenantId: ctx.tenantId,
      target: { type: 'module', id: 'canteen-billing' },
      summary: `Exported canteen billing for ${order.month}: ${rows} rows, ${people} people.`,
    }),
  );
  ctx.log.info({ requestId: ctx.requestId, rows, people }, 'a payroll file was made');
  return file;
}
