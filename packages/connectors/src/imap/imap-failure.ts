import { certificateFault } from '@portal/domain/certificate-fault';
import type { ImapFailureKind } from '@portal/domain/imap';
import { OutboundError } from '../http/outbound-error.ts';

/** Why a mailbox could not be read: one sentence that names the host. It contains neither a secret nor text from the server. */
export class ImapFailure extends Error {
  readonly kind: ImapFailureKind;

  constructor(kind: ImapFailureKind, { host, port }: { host: string; port: number }, about: string, cause?: unknown) {
    super(`The mail server ${host.includes(':') ? `[${host}]` : host}:${port} ${about}`, { cause });
    this.name = 'ImapFailure';
    this.kind = kind;
  }
}

/** The step that failed. */
export type ImapStep = 'connect' | 'open' | 'read' | 'move';

interface ClientError {
  code?: string;
  authenticationFailed?: boolean;
  serverResponseCode?: string;
  responseStatus?: string;
  tlsFailed?: boolean;
}

const unreached: Record<string, string> = {
  ENOTFOUND: 'could not be found; check the spelling of the host.',
  ECONNREFUSED: 'accepts no connections; check host and port.',
  EHOSTUNREACH: 'cannot be reached from this network.',
  ENETUNREACH: 'cannot be reached from this network.',
  ETIMEDOUT: 'did not accept a connection in time.',
  CONNECT_TIMEOUT: 'did not accept a connection in time.',
};
/** The server was reached but did not answer in time. */
const slow: ReadonlySet<string> = new Set(['GREETING_TIMEOUT', 'UPGRADE_TIMEOUT', 'ETIMEOUT']);
/** The connection ended without a reason. */
const brokenOff = /^(?:NoConnection|EConnectionClosed|StateLogout|ClosedAfterConnect\w+|ECONNRESET|EPIPE)$/;

/** The failure behind an error of the address check, the socket, the TLS handshake or the client. */
export function failureOf(error: unknown, server: { host: string; port: number }, step: ImapStep): ImapFailure {
  if (error instanceof ImapFailure) return error;
  const failure = (kind: ImapFailureKind, about: string) => new ImapFailure(kind, server, about, error);
  if (error instanceof OutboundError) return failure('unreachable', 'is not at an address that the portal may call.');
  const { code = '', authenticationFailed, serverResponseCode, responseStatus, tlsFailed } = error as ClientError;
  const fault = certificateFault(code);
  if (fault !== null) return failure('certificate', `shows a certificate that ${fault}.`);
  if (authenticationFailed) {
    return serverResponseCode === 'UNAVAILABLE'
      ? failure('unreachable', 'cannot check passwords at the moment.')
      : failure('unauthorized', 'did not accept the user name or password.');
  }
  if (unreached[code] !== undefined) return failure('unreachable', unreached[code]);
  if (slow.has(code)) return failure('timeout', 'did not answer in time.');
  if (code === 'EPROTO' || /^ERR_(?:SSL|TLS)/.test(code) || tlsFailed) {
    return failure('protocol', 'could not agree on encryption with this system; check port and security.');
  }
  if (brokenOff.test(code)) return failure('unreachable', 'broke off the connection.');
  if (step === 'open' && responseStatus === 'NO')
    return failure('folderMissing', 'has no such folder, or does not show it.');
  return failure('protocol', 'did not answer like a mail server.');
}
