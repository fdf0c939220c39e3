import type { FailureClass } from '@portal/domain/failure-class';
import { failureOfCall as outboundFailureOf } from '../http/call-failure.ts';
import { OutboundError } from '../http/outbound-error.ts';

/** Why a server, or a part of it, could not be read. The message is for users and contains no secret. */
export class ServerFailure extends Error {
  readonly failure: FailureClass;
  /** The portal could not reach the server, or the server could not reach the node it forwarded the call to (595 to 599). */
  readonly isUnreachable: boolean;

  constructor(failure: FailureClass, message: string, cause?: unknown, status?: number) {
    super(message, { cause });
    this.name = 'ServerFailure';
    this.failure = failure;
    this.isUnreachable = failure === 'netz' || (status !== undefined && status >= 595 && status <= 599);
  }
}

/** The ServerFailure for a failed call. Throws every other error. */
export function failureOfCall(error: unknown, host: string): ServerFailure {
  if (!(error instanceof OutboundError)) throw error;
  const { failure, message } = outboundFailureOf(error, host);
  return new ServerFailure(failure, message, error);
}
