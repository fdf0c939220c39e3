import { certificateFault } from '@portal/domain/certificate-fault';
import type { FailureClass } from '@portal/domain/monitoring/servers';
import { OutboundError, type OutboundReason } from '../http/outbound-error.ts';

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

const ofReason: Record<OutboundReason, [FailureClass, string]> = {
  blocked: ['netz', 'is not at an address that the portal may call.'],
  unreachable: ['netz', 'could not be reached.'],
  certificate: ['zertifikat', 'did not show a valid certificate.'],
  timeout: ['netz', 'did not answer in time.'],
  too_large: ['antwortform', 'sent more than is accepted.'],
  redirects: ['antwortform', 'redirects.'],
  malformed: ['antwortform', 'sent an answer that cannot be read.'],
};

/** What a call that came to nothing means. */
export function failureOfCall(error: unknown, host: string): ServerFailure {
  if (!(error instanceof OutboundError)) throw error;
  const [failure, usual] = ofReason[error.reason];
  return new ServerFailure(failure, `${host} ${moreExactly(error) ?? usual}`, error);
}

function moreExactly({ reason, cause }: OutboundError): string | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (reason === 'certificate') {
    const fault = certificateFault(code);
    return fault === null ? null : `showed a certificate that ${fault}.`;
  }
  if (reason !== 'unreachable') return null;
  // Answers in plain HTTP, or other noise, to the first words of TLS.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'does not speak TLS on this port.';
  return unreached[code] ?? null;
}

const unreached: Record<string, string> = {
  ENOTFOUND: 'has no address: no such name is known.',
  ECONNREFUSED: 'refuses connections on this port.',
  ECONNRESET: 'broke the connection off.',
  EPIPE: 'broke the connection off.',
  ETIMEDOUT: 'did not take a connection in time.',
  EHOSTUNREACH: 'cannot be reached from here: there is no way to it.',
  ENETUNREACH: 'cannot be reached from here: there is no way to it.',
};
