import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { SECOND } from '@portal/domain/time';
import { analysisOf } from './analysis.ts';
import { Deadline } from './reading/deadline.ts';
import { readFiles, type UploadedFile } from './reading/read-files.ts';

/** Short of what ends the process, so that there is still an answer. */
const readWithinMs = 8 * SECOND;
const answerWithinMs = 8.5 * SECOND;

export interface AnalysisOrder {
  files: UploadedFile[];
  password: string | undefined;
}

/** A task for a process of its own: files in, what they hold out, as JSON. Throws 413 `ARCHIVE_TOO_LARGE`. */
export async function run({ files, password }: AnalysisOrder): Promise<Uint8Array> {
  const answerBy = new Deadline(answerWithinMs);
  const findings = await readFiles(files, password, new Deadline(readWithinMs));
  const analysis = analysisOf(findings, new Date(), answerBy);
  return Buffer.from(JSON.stringify(CertificateAnalysis.encode(analysis)));
}
