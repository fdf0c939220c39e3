import { certificateFault } from '@portal/domain/certificate-fault';
import type { FailureClass } from '@portal/domain/failure-class';
import type { OutboundError, OutboundReason } from './outbound-error.ts';

const ofReason: Record<OutboundReason, FailureClass> = {
  blocked: 'netz',
  unreachable: 'netz',
  certificate: 'zertifikat',
  timeout: 'netz',
  too_large: 'antwortform',
  redirects: 'antwortform',
  malformed: 'antwortform',
};

const unreached: Record<string, string> = {
  ENOTFOUND: 'has no address: no such name is known.',
  ECONNREFUSED: 'refuses connections on this port.',
  ECONNRESET: 'broke the connection off.',
  EPIPE: 'broke the connection off.',
  ETIMEDOUT: 'did not take a connection in time.',
  EHOSTUNREACH: 'cannot be reached from here: there is no way to it.',
  ENETUNREACH: 'cannot be reached from here: there is no way to it.',
};

/** Why a watched system could not be called: the class, and one sentence that names the host and no secret. */
export function failureOfCall(error: OutboundError, host: string): { failure: FailureClass; message: string } {
  const what = moreExactly(error);
  return { failure: ofReason[error.reason], message: what === null ? error.message : `${host} ${what}` };
}

function moreExactly({ reason, cause }: OutboundError): string | null {
  if (reason === 'blocked') return 'is not at an address that the portal may call.';
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (reason === 'certificate') {
    const fault = certificateFault(code);
    return fault === null ? null : `showed a certificate that ${fault}.`;
  }
  if (reason !== 'unreachable') return null;
  // Plain HTTP, or other noise, in answer to the first words of TLS.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'does not speak TLS on this port.';
  return unreached[code] ?? null;
}
