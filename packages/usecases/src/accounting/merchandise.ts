import type { Assignments, MerchandiseAccount } from '@portal/domain/accounting/merchandise';
import type { ListedAccount } from '@portal/domain/accounting/merchandise-lines';
import type { UserContext } from '@portal/platform/context';
import { taskOf } from '@portal/platform/sandbox/task';
import { accountListOf, changeAccounts, staleError } from './account-list.ts';
import { recordAudit } from './audit.ts';
import type { MerchandiseFile, run as exportRun } from './merchandise-export-task.ts';
import type { run as previewRun } from './merchandise-preview-task.ts';
import { storedMerchandiseSettings } from './merchandise-settings.ts';
import { taskLimits, workOnUpload } from './work-on-upload.ts';

const previewTask = taskOf<typeof previewRun>(new URL('merchandise-preview-task.ts', import.meta.url), taskLimits);
const exportTask = taskOf<typeof exportRun>(new URL('merchandise-export-task.ts', import.meta.url), taskLimits);

/**
 * The rows of a merchandise list and their accounts, as the JSON of a MerchandisePreview. Nothing is stored. Throws 400 with the code of a
 * fault of the whole file, 413, 429 and 503.
 */
export async function previewMerchandise(ctx: UserContext, bytes: Uint8Array): Promise<Uint8Array> {
  const { version, accounts } = await ctx.read(accountListOf);
  const preview = await workOnUpload(ctx, previewTask, {
    bytes,
    accounts: asJson(accounts),
    accountsVersion: version,
  });
  ctx.log.info({ requestId: ctx.requestId, bytes: bytes.length }, 'a merchandise list was read');
  return preview;
}

export interface MerchandiseExportInput {
  bytes: Uint8Array;
  accountsVersion: number;
  assignments: Assignments;
  /** The month of a list that does not name one. */
  period: string | null;
}

/**
 * The file for financial accounting. Returns it only if its new accounts were stored. Throws like `previewMerchandise`, and 400
 * `ROW_ERRORS`, `PERIOD_REQUIRED` and `NOTHING_TO_EXPORT`, 409 `ACCOUNTS_STALE` and `SETTINGS_INCOMPLETE`.
 */
export async function exportMerchandise(
  ctx: UserContext,
  { bytes, accountsVersion: seen, assignments, period }: MerchandiseExportInput,
): Promise<MerchandiseFile> {
  const { version, accounts } = await ctx.read(accountListOf);
  const settings = await ctx.read(storedMerchandiseSettings);
  const isCurrent = seen === version;
  const file = await workOnUpload(ctx, exportTask, {
    bytes,
    accounts: asJson(accounts),
    // A stale request is only checked, so that faults of the file are reported before `ACCOUNTS_STALE`.
    exportOptions: isCurrent ? { assignments, settings, period, now: ctx.now() } : null,
  });
  if (!file) throw await ctx.read((db) => staleError(db, seen, version));
  const newAccounts = JSON.parse(Buffer.from(file.newAccounts).toString()) as ListedAccount[];
  // The file was made before, because nothing that takes seconds may hold the lock of the list. The version must still be that of the
  // preview: otherwise the user could book to an account that has been renamed since.
  await ctx.tx(async (tx) => {
    await changeAccounts(tx, ctx.tenantId, async (list) => {
      if (list.version !== seen) throw await staleError(tx, seen, list.version);
      return { added: newAccounts };
    });
    await recordAudit(tx, ctx, {
      action: 'merchandise.export',
      tenantId: ctx.tenantId,
      target: { type: 'module', id: 'merchandise-export' },
      summary: `Exported merchandise for ${file.period}: ${file.rows} rows, ${newAccounts.length} new accounts.`,
    });
  });
  ctx.log.info(
    { requestId: ctx.requestId, rows: file.rows, newAccounts: newAccounts.length },
    'merchandise was exported',
  );
  return file;
}

const asJson = (accounts: readonly MerchandiseAccount[]): Uint8Array =>
  Buffer.from(JSON.stringify(accounts.map(({ number, name }) => ({ number, name }))));
