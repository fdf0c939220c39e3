import { certificateFault } from '@portal/domain/certificate-fault';
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

const sentences: Record<OutboundReason, (host: string) => string> = {
  blocked: (host) => `${host} is not an address on the public internet that the portal may call.`,
  unreachable: (host) => `${host} could not be reached.`,
  certificate: (host) => `${host} did not show a valid certificate.`,
  timeout: (host) => `${host} did not answer in time.`,
  too_large: (host) => `${host} sent more than is accepted.`,
  redirects: (host) => `${host} redirected too often.`,
  malformed: (host) => `${host} sent an answer that cannot be read.`,
};

/** A call that failed. Names the host and nothing of the address behind it; a blocked one is the caller's mistake, not the host's. */
export class OutboundError extends PortalError {
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason, host: string, cause?: unknown) {
    super(reason === 'blocked' ? 'invalid' : 'upstream', `OUTBOUND_${reason.toUpperCase()}`, sentences[reason](host), {
      cause,
    });
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
