import { CertificateAnalysis, uploadLimits } from '@portal/domain/certificates/certificates';
import { PortalError } from '@portal/domain/errors';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import type { RateLimit } from '@portal/platform/rate-limit';
import { runUploadTask } from '@portal/platform/sandbox/run-upload-task';
import { TaskError, taskOf } from '@portal/platform/sandbox/task';
import type { AnalysisInput, run } from './analysis-task.ts';
import { isArchive } from './reading/is-archive.ts';

const perUser: RateLimit = { name: 'certificate analyses per user', max: 30, windowSec: MINUTE / SECOND };

const analysisTask = taskOf<typeof run>(new URL('analysis-task.ts', import.meta.url), {
  timeoutMs: 10 * SECOND,
  maxMemoryMb: 300,
  // The parts contain the unpacked bytes in base64.
  maxOutputBytes: 2 * uploadLimits.unpackedBytes,
});

/**
 * The analysis of a set of files, as the JSON of a CertificateAnalysis. The sandbox process serializes it, because it may be large. Files
 * that crash that process are returned as rejected. Throws 413, 429 and 503.
 */
export async function analyzeCertificates(ctx: UserContext, input: AnalysisInput): Promise<Uint8Array> {
  checkSizes(input);
  try {
    return await runUploadTask(ctx, perUser, analysisTask, input);
  } catch (error) {
    if (!(error instanceof TaskError) || error.fault !== 'input') throw error;
    return Buffer.from(JSON.stringify(CertificateAnalysis.encode(rejectionOf(input, error))));
  }
}

/** An archive can be as large as the whole upload; its reader checks the sizes of the entries. */
function checkSizes({ files }: AnalysisInput): void {
  const large = files.find(({ bytes }) => bytes.length > uploadLimits.fileBytes && !isArchive(bytes));
  if (large)
    throw new PortalError(
      'TOO_LARGE',
      `${large.name} is too large: a file can have at most ${uploadLimits.fileBytes} bytes.`,
    );
}

function rejectionOf({ files }: AnalysisInput, { reason }: TaskError): CertificateAnalysis {
  const problem = reason === 'crashed' ? 'cannot be read' : 'takes too much time or memory to read';
  const hint =
    files.length === 1 ? `This file ${problem}.` : `One of these files ${problem}. Please send them one by one.`;
  return {
    parts: [],
    chains: [],
    locked: [],
    rejected: files.map(({ name }) => ({ file: name, reason: reason === 'crashed' ? 'DAMAGED' : 'TOO_LARGE', hint })),
    warnings: files.map(({ name }) => ({ code: 'UNSUPPORTED', part: null, message: `${name}: ${hint}` })),
  };
}
