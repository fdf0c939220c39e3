import type { LockedReason, RejectedReason } from '@portal/domain/certificates/certificates';

/** Why a file or a part of it cannot be used, and what the user can do about it. */
export class NotUsableError extends Error {
  readonly reason: RejectedReason | LockedReason;

  constructor(reason: RejectedReason | LockedReason, hint: string, cause?: unknown) {
    super(hint, { cause });
    this.name = 'NotUsableError';
    this.reason = reason;
  }
}

/** The password is missing or wrong. */
export const locked = (password: string | undefined, cause?: unknown): NotUsableError =>
  password === undefined
    ? new NotUsableError('PASSWORD_REQUIRED', 'It needs a password.', cause)
    : new NotUsableError('PASSWORD_WRONG', 'The password does not open it.', cause);

export const damaged = (hint: string, cause?: unknown): NotUsableError => new NotUsableError('DAMAGED', hint, cause);

export const unsupported = (hint: string, cause?: unknown): NotUsableError =>
  new NotUsableError('UNSUPPORTED', hint, cause);

export const tooMuch = (hint: string): NotUsableError => new NotUsableError('TOO_LARGE', hint);

/** Treats unexpected errors as damage. */
export const asNotUsable = (error: unknown): NotUsableError =>
  error instanceof NotUsableError ? error : damaged('Something in it cannot be read.', error);
