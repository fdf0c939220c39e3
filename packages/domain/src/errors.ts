/** What went wrong, as far as a machine needs to know: the API maps a kind to a status, the worker to "retry" or "give up". */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'busy'
  | 'upstream'
  | 'unavailable';

export interface ErrorDetail {
  /** Where in the input, as a dotted path: `filters.cpv.0`. */
  path: string;
  message: string;
}

export interface PortalErrorOptions {
  cause?: unknown;
  details?: ErrorDetail[];
  /** Sent as `Retry-After`, whole seconds. */
  retryAfterSec?: number;
}

/**
 * Every refusal the product makes on purpose. `code` never changes once published,
 * `message` is one plain English sentence for the person who meets it.
 */
export class PortalError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(kind: ErrorKind, code: string, message: string, options: PortalErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PortalError';
    this.kind = kind;
    this.code = code;
    this.details = options.details;
    this.retryAfterSec = options.retryAfterSec;
  }
}

export const invalid = (code: string, message: string, options?: PortalErrorOptions): PortalError =>
  new PortalError('invalid', code, message, options);

/** A single field that breaks a rule no schema can express. */
export const invalidField = (path: string, message: string, code = 'VALIDATION_FAILED'): PortalError =>
  new PortalError('invalid', code, `The request is not valid: ${path} ${message}.`, { details: [{ path, message }] });

export const forbidden = (
  message = 'You may not do this.',
  code = 'FORBIDDEN',
  options?: PortalErrorOptions,
): PortalError => new PortalError('forbidden', code, message, options);

/** The one answer for a record that does not exist, is another tenant's, or another user's. */
export const notFound = (): PortalError => new PortalError('not_found', 'NOT_FOUND', 'There is nothing here.');

export const conflict = (code: string, message: string, options?: PortalErrorOptions): PortalError =>
  new PortalError('conflict', code, message, options);

export const unauthenticated = (code = 'UNAUTHENTICATED', message = 'Please sign in.'): PortalError =>
  new PortalError('unauthenticated', code, message);

export const busy = (message: string, retryAfterSec: number, code = 'RATE_LIMITED'): PortalError =>
  new PortalError('busy', code, message, { retryAfterSec });

export const unavailable = (message: string, cause?: unknown, retryAfterSec = 5): PortalError =>
  new PortalError('unavailable', 'UNAVAILABLE', message, { cause, retryAfterSec });

/** What failed for want of something that may be back in a moment. */
export const isUnavailable = (error: unknown): boolean => error instanceof PortalError && error.kind === 'unavailable';

export const upstream = (code: string, message: string, options?: PortalErrorOptions): PortalError =>
  new PortalError('upstream', code, message, options);
