import { failureOfCall } from '../http/call-failure.ts';
import { OutboundError } from '../http/outbound-error.ts';

interface FailureFacts {
  retryAfterMs?: number | null;
  isGone?: boolean;
  isFinal?: boolean;
  cause?: unknown;
}

/** Why a source could not be read. The message is one sentence that names the host and no secret. */
export class SourceFailure extends Error {
  /** The `Retry-After` of the source; null if it sent none. */
  readonly retryAfterMs: number | null;
  /** The source reports that it no longer exists (410). */
  readonly isGone: boolean;
  /** An immediate retry would give the same answer. */
  readonly isFinal: boolean;

  constructor(message: string, about: FailureFacts = {}) {
    super(message, { cause: about.cause });
    this.name = 'SourceFailure';
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.isGone = about.isGone ?? false;
    this.isFinal = about.isFinal ?? false;
  }
}

/** For `.catch` of a call: turns an OutboundError into a SourceFailure and rethrows other errors. */
export function asSourceFailure(host: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof OutboundError
      ? new SourceFailure(failureOfCall(error, host).message, { cause: error })
      : error;
  };
}

/** The failure for an answer that is not a success. */
export function refusedBy(
  host: string,
  { status, headers }: { status: number; headers: Record<string, unknown> },
): SourceFailure {
  const retryAfterMs = [429, 503].includes(status) ? retryAfter(headers['retry-after']) : null;
  if (status === 410)
    return new SourceFailure(`${host} reported that this address no longer exists (410).`, { isGone: true });
  if (status === 404) return new SourceFailure(`${host} found nothing at this address (404).`);
  if (status === 429) return new SourceFailure(`${host} received too many requests (429).`, { retryAfterMs });
  if (status === 401 || status === 403) return new SourceFailure(`${host} denied access (${status}).`);
  if (status >= 500) return new SourceFailure(`${host} reported an error (${status}).`, { retryAfterMs });
  return new SourceFailure(`${host} sent an unexpected answer (${status}).`);
}

const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/** Seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxRetryAfterMs) : null;
}
