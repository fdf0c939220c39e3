import { certificateFault } from '@portal/domain/certificate-fault';
import type { FailureClass } from '@portal/domain/failure-class';
import type { OutboundError, OutboundReason } from './outbound-error.ts';

const classByReason: Record<OutboundReason, FailureClass> = {
  blocked: 'netz',
  unreachable: 'netz',
  certificate: 'zertifikat',
  timeout: 'netz',
  too_large: 'antwortform',
  redirects: 'antwortform',
  malformed: 'antwortform',
};

const messageByCode: Record<string, string> = {
  ENOTFOUND: 'has no address: DNS does not know this name.',
  ECONNREFUSED: 'refuses connections on this port.',
  ECONNRESET: 'broke off the connection.',
  EPIPE: 'broke off the connection.',
  ETIMEDOUT: 'did not accept a connection in time.',
  EHOSTUNREACH: 'cannot be reached from here: there is no network route to it.',
  ENETUNREACH: 'cannot be reached from here: there is no network route to it.',
};

/** Why a call to a monitored system failed: the class, and one sentence with the host and without secrets. */
export function failureOfCall(error: OutboundError, host: string): { failure: FailureClass; message: string } {
  const detail = detailOf(error);
  return { failure: classByReason[error.reason], message: detail === null ? error.message : `${host} ${detail}` };
}

function detailOf({ reason, cause }: OutboundError): string | null {
  if (reason === 'blocked') return 'is not at an address that the portal may call.';
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (reason === 'certificate') {
    const fault = certificateFault(code);
    return fault === null ? null : `showed a certificate that ${fault}.`;
  }
  if (reason !== 'unreachable') return null;
  // The server answered the TLS handshake with plain HTTP or other data.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'does not speak TLS on this port.';
  return messageByCode[code] ?? null;
}
