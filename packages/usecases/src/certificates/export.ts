import type { CertificateExport } from '@portal/domain/certificates/certificates';
import { invalid } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import type { RateLimit } from '@portal/platform/rate-limit';
import { runUploadTask } from '@portal/platform/sandbox/run-upload-task';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import { recordAudit } from './audit.ts';
import type { ExportedFile, run } from './export-task.ts';

const perUser: RateLimit = { name: 'certificate exports per user', max: 30, windowSec: MINUTE / SECOND };

const exportTask = taskOf<typeof run>(new URL('export-task.ts', import.meta.url), {
  timeoutMs: 10 * SECOND,
  maxMemoryMb: 300,
  // A JSON body has at most one megabyte, and a PFX contains each part once.
  maxOutputBytes: 4 * 1024 * 1024,
});

/** Creates a file from the parts of the caller. An export with a key is noted in the audit log. Throws 400, 429 and 503. */
export async function exportCertificate(ctx: UserContext, input: CertificateExport): Promise<ExportedFile> {
  const file = await runUploadTask(ctx, perUser, exportTask, input).catch((error: unknown) => {
    if (!(error instanceof TaskError) || error.fault !== 'input') throw error;
    throw invalid('VALIDATION_FAILED', 'These parts take too much time or memory to process.', { cause: error });
  });
  if (input.format === 'pfx' || input.format.startsWith('key-')) {
    await ctx.tx((tx) =>
      recordAudit(tx, ctx, {
        action: 'certificates.export_key',
        tenantId: ctx.tenantId,
        summary: `Exported a private key as ${input.format}${file.subject === null ? '' : ` for ${file.subject}`}.`,
      }),
    );
  }
  return file;
}
