import type { FailureClass } from '@portal/domain/monitoring/servers';
import { failureOfCall as meaningOfCall } from '../http/call-failure.ts';
import { OutboundError } from '../http/outbound-error.ts';

/** Why a server, or a part of it, could not be read. The sentence is for people and holds no secret. */
export class ServerFailure extends Error {
  readonly failure: FailureClass;

  constructor(failure: FailureClass, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ServerFailure';
    this.failure = failure;
  }
}

/** The class of an answer that is no success (contract section 8). */
export function classOfStatus(status: number): FailureClass {
  if (status === 401) return 'zugang';
  if (status === 403) return 'rechte';
  // Told by a proxy in front: it is busy, not wrong. Those of Proxmox’s own cluster, 595 to 599, are above 500 too.
  if (status === 429 || (status >= 500 && status !== 501)) return 'server';
  return 'antwortform';
}

/** What a call that came to nothing means. */
export function failureOfCall(error: unknown, host: string): ServerFailure {
  if (!(error instanceof OutboundError)) throw error;
  const { failure, message } = meaningOfCall(error, host);
  return new ServerFailure(failure, message, error);
}
