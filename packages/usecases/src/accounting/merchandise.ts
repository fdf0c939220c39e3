import type { Assignments, MerchandiseAccount } from '@portal/domain/accounting/merchandise';
import type { ListedAccount } from '@portal/domain/accounting/merchandise-lines';
import type { UserContext } from '@portal/platform/context';
import { taskOf } from '@portal/platform/sandbox/task';
import { accountListOf, changeAccounts, staleRefusal } from './account-list.ts';
import { recordAudit } from './audit.ts';
import type { MerchandiseFile, run as exportRun } from './merchandise-export-task.ts';
import type { run as previewRun } from './merchandise-preview-task.ts';
import { storedMerchandiseSettings } from './merchandise-settings.ts';
import { taskLimits, workOnUpload } from './work-on-upload.ts';

const previewing = taskOf<typeof previewRun>(new URL('merchandise-preview-task.ts', import.meta.url), taskLimits);
const exporting = taskOf<typeof exportRun>(new URL('merchandise-export-task.ts', import.meta.url), taskLimits);

/**
 * What a list of merchandise says and which accounts it goes to, as the JSON of a MerchandisePreview. Nothing is kept. Throws 400 with the
 * code of a fault of the whole file, 413, 429 and 503.
 */
export async function previewMerchandise(ctx: UserContext, bytes: Uint8Array): Promise<Uint8Array> {
  const { version, accounts } = await ctx.read(accountListOf);
  const preview = await workOnUpload(ctx, previewing, {
    bytes,
    accounts: asJson(accounts),
    accountsVersion: version,
  });
  ctx.log.info({ requestId: ctx.requestId, bytes: bytes.length }, 'a merchandise list was read');
  return preview;
}

export interface MerchandiseExportOrder {
  bytes: Uint8Array;
  accountsVersion: number;
  assignments: Assignments;
  /** For a list that names no month. */
  period: string | null;
}

/**
 * The file for financial accounting; the accounts it makes are stored with it, or neither is. Throws what a preview throws, 400
 * `ROW_ERRORS`, `PERIOD_REQUIRED` and `NOTHING_TO_EXPORT`, 409 `ACCOUNTS_STALE` and `SETTINGS_INCOMPLETE`.
 */
export async function exportMerchandise(
  ctx: UserContext,
  { bytes, accountsVersion: seen, assignments, period }: MerchandiseExportOrder,
): Promise<MerchandiseFile> {
  const { version, accounts } = await ctx.read(accountListOf);
  const settings = await ctx.read(storedMerchandiseSettings);
  const isCurrent = seen === version;
  const file = await workOnUpload(ctx, exporting, {
    bytes,
    accounts: asJson(accounts),
    // A stale export is checked, and made by nobody: what is wrong with the file comes first.
    exported: isCurrent ? { assignments, settings, period, now: ctx.now() } : null,
  });
  if (!file) throw await ctx.read((db) => staleRefusal(db, seen, version));
  const newAccounts = JSON.parse(Buffer.from(file.newAccounts).toString()) as ListedAccount[];
  await ctx.tx(async (tx) => {
    await changeAccounts(tx, ctx.tenantId, async (list) => {
      if (list.version !== seen) throw await staleRefusal(tx, seen, list.version);
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
