import { type CodeOf, type ErrorCode, errorCodes, type ErrorKind } from './error-codes.ts';

export interface ErrorDetail {
  /** Dotted path in the input: `filters.cpv.0`. */
  path: string;
  message: string;
  /** The kind of fault for programs, if the input is a file. */
  code?: string;
}

export interface PortalErrorOptions {
  cause?: unknown;
  details?: ErrorDetail[];
  /** Sent as `Retry-After`, whole seconds. */
  retryAfterSec?: number;
}

/** Every deliberate refusal: `code` identifies it, `message` is one plain English sentence for the user. */
export class PortalError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(code: ErrorCode, message: string = errorCodes[code].message, options: PortalErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PortalError';
    this.kind = errorCodes[code].kind;
    this.code = code;
    this.details = options.details;
    this.retryAfterSec = options.retryAfterSec;
  }
}

export const invalid = (code: CodeOf<'invalid'>, message?: string, options?: PortalErrorOptions): PortalError =>
  new PortalError(code, message, options);

/** One field that breaks a rule which its schema cannot express. */
export const invalidField = (
  path: string,
  message: string,
  code: CodeOf<'invalid'> = 'VALIDATION_FAILED',
): PortalError =>
  new PortalError(code, `The request is not valid: ${path} ${message}.`, { details: [{ path, message }] });

export const forbidden = (code: CodeOf<'forbidden'> = 'FORBIDDEN', message?: string): PortalError =>
  new PortalError(code, message);

/** The account may not do this, or no longer exists. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof PortalError && (error.kind === 'forbidden' || error.kind === 'unauthenticated');

/** The same answer for a record that does not exist and one of another tenant or user. */
export const notFound = (): PortalError => new PortalError('NOT_FOUND');

export const conflict = (code: CodeOf<'conflict'>, message?: string, options?: PortalErrorOptions): PortalError =>
  new PortalError(code, message, options);

export const tooLarge = (message?: string, cause?: unknown): PortalError =>
  new PortalError('PAYLOAD_TOO_LARGE', message, { cause });

export const unauthenticated = (code: CodeOf<'unauthenticated'> = 'UNAUTHENTICATED', message?: string): PortalError =>
  new PortalError(code, message);

export const busy = (message: string, retryAfterSec: number): PortalError =>
  new PortalError('RATE_LIMITED', message, { retryAfterSec });

/** A failure that may be over in a moment, such as a lost database connection. */
export const isUnavailable = (error: unknown): boolean => error instanceof PortalError && error.kind === 'unavailable';

export const unavailable = (message?: string, cause?: unknown, retryAfterSec = 5): PortalError =>
  new PortalError('UNAVAILABLE', message, { cause, retryAfterSec });

export const upstream = (code: CodeOf<'upstream'>, message: string, options?: PortalErrorOptions): PortalError =>
  new PortalError(code, message, options);
