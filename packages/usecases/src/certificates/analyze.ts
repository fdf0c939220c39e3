import { CertificateAnalysis, uploadLimits } from '@portal/domain/certificates/certificates';
import { PortalError } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import type { RateLimit } from '@portal/platform/rate-limit';
import { runUploadTask } from '@portal/platform/sandbox/run-upload-task';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import type { AnalysisOrder, run } from './analysis-task.ts';
import { isArchive } from './reading/is-archive.ts';

const perUser: RateLimit = { name: 'certificate analyses per user', max: 30, windowSec: MINUTE / SECOND };

const reading = taskOf<typeof run>(new URL('analysis-task.ts', import.meta.url), {
  timeoutMs: 10 * SECOND,
  maxMemoryMb: 300,
  // The parts are what was unpacked, written in base64.
  maxOutputBytes: 2 * uploadLimits.unpackedBytes,
});

/**
 * What a set of files holds, as the JSON of a CertificateAnalysis: written by the process that read them, because it may be large.
 * Files that end that process come back as rejected. Throws 413, 429 and 503.
 */
export async function analyzeCertificates(ctx: UserContext, order: AnalysisOrder): Promise<Uint8Array> {
  checkSizes(order);
  try {
    return await runUploadTask(ctx, perUser, reading, order);
  } catch (error) {
    if (!(error instanceof TaskError) || error.fault !== 'input') throw error;
    return Buffer.from(JSON.stringify(CertificateAnalysis.encode(rejectionOf(order, error))));
  }
}

/** An archive may be as large as the whole upload; its entries are measured where it is read. */
function checkSizes({ files }: AnalysisOrder): void {
  const large = files.find(({ bytes }) => bytes.length > uploadLimits.fileBytes && !isArchive(bytes));
  if (large)
    throw new PortalError('TOO_LARGE', `${large.name} is too large: a file may have ${uploadLimits.fileBytes} bytes.`);
}

function rejectionOf({ files }: AnalysisOrder, { reason }: TaskError): CertificateAnalysis {
  const what = reason === 'crashed' ? 'cannot be read' : 'takes too much time or memory to read';
  const hint = files.length === 1 ? `This ${what}.` : `One of these files ${what}. Please send them one by one.`;
  return {
    parts: [],
    chains: [],
    locked: [],
    rejected: files.map(({ name }) => ({ file: name, reason: reason === 'crashed' ? 'DAMAGED' : 'TOO_LARGE', hint })),
    warnings: files.map(({ name }) => ({ code: 'UNSUPPORTED', part: null, message: `${name}: ${hint}` })),
  };
}
