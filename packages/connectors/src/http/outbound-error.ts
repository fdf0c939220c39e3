import { certificateFault } from '@portal/domain/certificate-fault';
import type { ErrorCode } from '@portal/domain/error-codes';
import { PortalError } from '@portal/domain/errors';

/**
 * Why a call to a foreign host gave nothing. An area maps these to its own codes.
 * - `blocked`: the address is none the portal may call; another try changes nothing.
 * - `unreachable`: no such name, nobody listens, no connection within the time, or it broke.
 * - `certificate`: the host did not prove who it is.
 * - `timeout`: connected, and not done within the time the caller gave.
 * - `too_large`: more bytes than the caller takes.
 * - `redirects`: sent on more often than is followed.
 * - `malformed`: what came back is no HTTP.
 */
export type OutboundReason =
  | 'blocked'
  | 'unreachable'
  | 'certificate'
  | 'timeout'
  | 'too_large'
  | 'redirects'
  | 'malformed';

const said: Record<OutboundReason, [code: ErrorCode, sentence: (host: string) => string]> = {
  blocked: ['OUTBOUND_BLOCKED', (host) => `${host} is not an address on the public internet that the portal may call.`],
  unreachable: ['OUTBOUND_UNREACHABLE', (host) => `${host} could not be reached.`],
  certificate: ['OUTBOUND_CERTIFICATE', (host) => `${host} did not show a valid certificate.`],
  timeout: ['OUTBOUND_TIMEOUT', (host) => `${host} did not answer in time.`],
  too_large: ['OUTBOUND_TOO_LARGE', (host) => `${host} sent more than is accepted.`],
  redirects: ['OUTBOUND_REDIRECTS', (host) => `${host} redirected too often.`],
  malformed: ['OUTBOUND_MALFORMED', (host) => `${host} sent an answer that cannot be read.`],
};

/** A call that failed. Names the host and nothing of the address behind it; a blocked one is the caller's mistake, not the host's. */
export class OutboundError extends PortalError {
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, host: string, cause?: unknown) {
    const [code, sentence] = said[reason];
    super(code, sentence(host), { cause });
    this.name = 'OutboundError';
    this.reason = reason;
  }
}

// The HTTP parser's and the decompressors' complaints.
const malformedCodes = /^(HPE_|Z_|ERR__ERROR_|ERR_BROTLI_|ERR_HTTP_|ERR_INVALID_)/;

/** The reason a socket, parser or decompressor failed. */
export function reasonOf(error: unknown): OutboundReason {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (certificateFault(code) !== null) return 'certificate';
  if (malformedCodes.test(code)) return 'malformed';
  return 'unreachable';
}
