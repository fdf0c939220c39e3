import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { SECOND } from '@portal/domain/time';
import { analysisOf } from './analysis.ts';
import { Deadline } from './reading/deadline.ts';
import { readFiles, type UploadedFile } from './reading/read-files.ts';

/** Shorter than the time limit of the process, so that it can still answer. */
const readWithinMs = 8 * SECOND;
const answerWithinMs = 8.5 * SECOND;

export interface AnalysisInput {
  files: UploadedFile[];
  password: string | undefined;
}

/** Sandbox task: analyzes files and returns a CertificateAnalysis as JSON. Throws 413 `ARCHIVE_TOO_LARGE`. */
export async function run({ files, password }: AnalysisInput): Promise<Uint8Array> {
  const answerBy = new Deadline(answerWithinMs);
  const findings = await readFiles(files, password, new Deadline(readWithinMs));
  const analysis = analysisOf(findings, new Date(), answerBy);
  return Buffer.from(JSON.stringify(CertificateAnalysis.encode(analysis)));
}
