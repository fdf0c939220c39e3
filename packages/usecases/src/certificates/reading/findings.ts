import {
  LockedReason,
  type CertificateAnalysis,
  type RejectedReason,
  uploadLimits,
} from '@portal/domain/certificates/certificates';
import { PortalError } from '@portal/domain/errors';
import type { Found } from './found.ts';
import { asNotUsable, tooMuch } from './not-usable.ts';

/** The findings in the files so far. Equal content in several files is one part. */
export class Findings {
  readonly parts = new Map<string, Found>();
  readonly locked: CertificateAnalysis['locked'] = [];
  readonly rejected: CertificateAnalysis['rejected'] = [];
  /** Readable content that is not needed. */
  readonly ignored: { file: string; what: string }[] = [];

  /** Counts all findings. A file that adds none would be silently lost. */
  count = 0;

  /** Throws a NotUsableError if there are too many parts. */
  add(file: string, part: Found): void {
    this.count += 1;
    const known = this.parts.get(part.id);
    if (!known && this.parts.size >= uploadLimits.parts)
      throw tooMuch(`Only the first ${uploadLimits.parts} parts are read.`);
    (known ?? part).files.add(file);
    if (!known) this.parts.set(part.id, part);
  }

  ignore(file: string, what: string): void {
    this.count += 1;
    if (!this.ignored.some((other) => other.file === file && other.what === what)) this.ignored.push({ file, what });
  }

  /** Adds a fault of a file, once per reason. Rethrows a PortalError, which refuses the whole upload. */
  note(file: string, error: unknown): void {
    if (error instanceof PortalError) throw error;
    this.count += 1;
    const { reason, message } = asNotUsable(error);
    const isLocked = LockedReason.safeParse(reason).success;
    const list: { file: string; reason: string }[] = isLocked ? this.locked : this.rejected;
    if (list.some((other) => other.file === file && other.reason === reason)) return;
    if (isLocked) this.locked.push({ file, reason: reason as LockedReason });
    else this.rejected.push({ file, reason: reason as RejectedReason, hint: message });
  }
}
