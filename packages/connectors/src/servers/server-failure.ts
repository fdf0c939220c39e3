import type { FailureClass } from '@portal/domain/failure-class';
import { failureOfCall as meaningOfCall } from '../http/call-failure.ts';
import { OutboundError } from '../http/outbound-error.ts';

/** Why a server, or a part of it, could not be read. The sentence is for people and holds no secret. */
export class ServerFailure extends Error {
  readonly failure: FailureClass;
  /** Who was asked could not be reached: by us, or within its cluster by the server that passes the question on (595 to 599). */
  readonly isAway: boolean;

  constructor(failure: FailureClass, message: string, cause?: unknown, status?: number) {
    super(message, { cause });
    this.name = 'ServerFailure';
    this.failure = failure;
    this.isAway = failure === 'netz' || (status !== undefined && status >= 595 && status <= 599);
  }
}

/** What a call that came to nothing means. */
export function failureOfCall(error: unknown, host: string): ServerFailure {
  if (!(error instanceof OutboundError)) throw error;
  const { failure, message } = meaningOfCall(error, host);
  return new ServerFailure(failure, message, error);
}
