import { failureOfCall } from '../http/call-failure.ts';
import { OutboundError } from '../http/outbound-error.ts';

interface FailureFacts {
  retryAfterMs?: number | null;
  isGone?: boolean;
  isFinal?: boolean;
  cause?: unknown;
}

/** Why a source could not be read; one sentence that names the host and no secret. */
export class SourceFailure extends Error {
  /** How long the source wants to be left alone; null where it says nothing. */
  readonly retryAfterMs: number | null;
  /** It says that it will not come back. */
  readonly isGone: boolean;
  /** Asking the same again at once would not change it. */
  readonly isFinal: boolean;

  constructor(message: string, about: FailureFacts = {}) {
    super(message, { cause: about.cause });
    this.name = 'SourceFailure';
    this.retryAfterMs = about.retryAfterMs ?? null;
    this.isGone = about.isGone ?? false;
    this.isFinal = about.isFinal ?? false;
  }
}

/** For `.catch` of a call: the failure it is, unless it is one of ours. */
export function asSourceFailure(host: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof OutboundError
      ? new SourceFailure(failureOfCall(error, host).message, { cause: error })
      : error;
  };
}

/** An answer that is none of success. */
export function refusedBy(
  host: string,
  { status, headers }: { status: number; headers: Record<string, unknown> },
): SourceFailure {
  const retryAfterMs = [429, 503].includes(status) ? retryAfter(headers['retry-after']) : null;
  if (status === 410)
    return new SourceFailure(`${host} says that this address is gone for good (410).`, { isGone: true });
  if (status === 404) return new SourceFailure(`${host} has nothing at this address (404).`);
  if (status === 429) return new SourceFailure(`${host} was asked too often (429).`, { retryAfterMs });
  if (status === 401 || status === 403) return new SourceFailure(`${host} refuses to answer (${status}).`);
  if (status >= 500) return new SourceFailure(`${host} has a fault (${status}).`, { retryAfterMs });
  return new SourceFailure(`${host} gave an answer that was not expected (${status}).`);
}

const longestPauseMs = 24 * 60 * 60 * 1000;

/** Seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestPauseMs) : null;
}
