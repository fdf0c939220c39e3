import { certificateFault } from '@portal/domain/certificate-fault';
import type { ErrorCode } from '@portal/domain/error-codes';
import { PortalError } from '@portal/domain/errors';

/**
 * Why a call to a foreign host failed. Areas map these reasons to their own codes. `unreachable` and `timeout` differ because
 * administrators look for their causes in different places.
 * - `blocked`: the portal may not call this address; a retry does not help.
 * - `unreachable`: unknown name, closed port, no connection in time, or a lost connection.
 * - `certificate`: the host did not show a valid certificate.
 * - `timeout`: connected, but not finished within the caller's time limit.
 * - `too_large`: more bytes than the caller accepts.
 * - `redirects`: more redirects than are followed.
 * - `malformed`: the answer is not valid HTTP.
 */
export type OutboundReason =
  | 'blocked'
  | 'unreachable'
  | 'certificate'
  | 'timeout'
  | 'too_large'
  | 'redirects'
  | 'malformed';

const errorByReason: Record<OutboundReason, [code: ErrorCode, sentence: (host: string) => string]> = {
  blocked: ['OUTBOUND_BLOCKED', (host) => `${host} is not an address on the public internet that the portal may call.`],
  unreachable: ['OUTBOUND_UNREACHABLE', (host) => `${host} could not be reached.`],
  certificate: ['OUTBOUND_CERTIFICATE', (host) => `${host} did not show a valid certificate.`],
  timeout: ['OUTBOUND_TIMEOUT', (host) => `${host} did not answer in time.`],
  too_large: ['OUTBOUND_TOO_LARGE', (host) => `${host} sent a larger answer than the portal accepts.`],
  redirects: ['OUTBOUND_REDIRECTS', (host) => `${host} redirected too often.`],
  malformed: ['OUTBOUND_MALFORMED', (host) => `${host} sent an answer that cannot be read.`],
};

/** A failed call. Names the host, but not its IP address. `blocked` is a fault of the request (400), not of the host. */
export class OutboundError extends PortalError {
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, host: string, cause?: unknown) {
    const [code, sentence] = errorByReason[reason];
    super(code, sentence(host), { cause });
    this.name = 'OutboundError';
    this.reason = reason;
  }
}

// Errors of the HTTP parser and the decompressors.
const malformedCodes = /^(HPE_|Z_|ERR__ERROR_|ERR_BROTLI_|ERR_HTTP_|ERR_INVALID_)/;

/** The reason behind an error of a socket, the parser or a decompressor. */
export function reasonOf(error: unknown): OutboundReason {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (certificateFault(code) !== null) return 'certificate';
  if (malformedCodes.test(code)) return 'malformed';
  return 'unreachable';
}
