import {
  LockedReason,
  type CertificateAnalysis,
  type RejectedReason,
  uploadLimits,
} from '@portal/domain/certificates/certificates';
import { PortalError } from '@portal/domain/errors';
import type { Found } from './found.ts';
import { asNotUsable, tooMuch } from './not-usable.ts';

/** What was found in the files so far. The same thing in several files is one part. */
export class Findings {
  readonly parts = new Map<string, Found>();
  readonly locked: CertificateAnalysis['locked'] = [];
  readonly rejected: CertificateAnalysis['rejected'] = [];
  /** What is readable and of no use here. */
  readonly passedOver: { file: string; what: string }[] = [];

  /** How often something was told of a file: one of which nothing is told would be lost without a word. */
  told = 0;

  /** Throws a NotUsableError when there are too many. */
  add(file: string, part: Found): void {
    this.told += 1;
    const known = this.parts.get(part.id);
    if (!known && this.parts.size >= uploadLimits.parts)
      throw tooMuch(`Only the first ${uploadLimits.parts} parts are looked at.`);
    (known ?? part).files.add(file);
    if (!known) this.parts.set(part.id, part);
  }

  passOver(file: string, what: string): void {
    this.told += 1;
    if (!this.passedOver.some((one) => one.file === file && one.what === what)) this.passedOver.push({ file, what });
  }

  /** Notes what is wrong with a file, each thing once. Refusals of the upload are thrown on. */
  note(file: string, error: unknown): void {
    if (error instanceof PortalError) throw error;
    this.told += 1;
    const { reason, message } = asNotUsable(error);
    const isLocked = LockedReason.safeParse(reason).success;
    const list: { file: string; reason: string }[] = isLocked ? this.locked : this.rejected;
    if (list.some((one) => one.file === file && one.reason === reason)) return;
    if (isLocked) this.locked.push({ file, reason: reason as LockedReason });
    else this.rejected.push({ file, reason: reason as RejectedReason, hint: message });
  }
}
