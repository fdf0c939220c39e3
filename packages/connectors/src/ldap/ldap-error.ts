import { certificateFault } from '@portal/domain/certificate-fault';
import type { LdapAddress } from './server.ts';

export type LdapFailureKind =
  /** The connection failed or was lost, or the server says that it is busy. */
  | 'unreachable'
  /** The server refuses or requires a bind DN and password, or does not let the bind account read. */
  | 'credentials'
  /** The server's certificate is not valid. */
  | 'certificate'
  /** The directory has no entry at the base of the search. */
  | 'baseDn'
  /** The server does not answer in time. */
  | 'timeout'
  /** The server gives any other unexpected answer, or does not speak LDAP. */
  | 'protocol';

/**
 * Why a directory server did not do what was asked. The message is one plain sentence for administrators and names the host.
 * The error carries no DN, no secret, no text from the server (which may quote either) and no cause.
 */
export class LdapError extends Error {
  readonly kind: LdapFailureKind;

  constructor(kind: LdapFailureKind, { host, port }: Pick<LdapAddress, 'host' | 'port'>, about: string) {
    super(`The directory server ${host.includes(':') ? `[${host}]` : host}:${port} ${about}`);
    this.name = 'LdapError';
    this.kind = kind;
  }
}

/** The operation that the server refused. */
export type LdapStep = 'bind' | 'search';

/** The result of an operation (RFC 4511 section 4.1.9). */
export interface LdapResult {
  code: number;
  /** Free text from the server; may quote DNs. */
  diagnostic: string;
}

/** The result codes that the portal distinguishes (RFC 4511 appendix A). */
export const resultCode = {
  success: 0,
  operationsError: 1,
  timeLimitExceeded: 3,
  sizeLimitExceeded: 4,
  authMethodNotSupported: 7,
  strongerAuthRequired: 8,
  referral: 10,
  adminLimitExceeded: 11,
  unavailableCriticalExtension: 12,
  confidentialityRequired: 13,
  constraintViolation: 19,
  noSuchObject: 32,
  invalidDnSyntax: 34,
  inappropriateAuthentication: 48,
  invalidCredentials: 49,
  insufficientAccessRights: 50,
  busy: 51,
  unavailable: 52,
  unwillingToPerform: 53,
} as const;

/** The reason Active Directory hides in the text of invalidCredentials (Microsoft: system error codes 0x525–0x775). */
const bindAccountFault = (diagnostic: string): string | null => {
  switch (/\bdata ([0-9a-f]+)/i.exec(diagnostic)?.[1]?.toLowerCase()) {
    case '530':
      return 'does not let the bind account sign in at this time of day.';
    case '531':
      return 'does not let the bind account sign in from the portal.';
    case '532':
      return 'says that the password of the bind account has expired.';
    case '533':
      return 'says that the bind account is disabled.';
    case '701':
      return 'says that the bind account has expired.';
    case '773':
      return 'says that the bind account must change its password first.';
    case '775':
      return 'says that the bind account is locked.';
    default:
      return null;
  }
};

const refusedBind = (code: number, diagnostic: string, isAnonymous: boolean): string | null => {
  switch (code) {
    case resultCode.invalidCredentials:
    case resultCode.inappropriateAuthentication:
    case resultCode.noSuchObject:
    case resultCode.invalidDnSyntax:
    case resultCode.insufficientAccessRights:
    case resultCode.constraintViolation:
    case resultCode.unwillingToPerform:
      return isAnonymous
        ? 'does not allow anonymous access; enter a bind DN and its password.'
        : (bindAccountFault(diagnostic) ?? 'did not accept the bind DN or its password.');
    case resultCode.authMethodNotSupported:
      return 'does not allow sign-in with a DN and a password.';
    default:
      return null;
  }
};

// Active Directory answers a search before a bind with an operationsError and this text
const wantsBind = (diagnostic: string): boolean => /successful bind must be completed/i.test(diagnostic);

/** Turns a result other than success into a failure. */
export function resultFailure(
  server: LdapAddress,
  { code, diagnostic }: LdapResult,
  step: LdapStep,
  isAnonymous: boolean,
): LdapError {
  const refusal = step === 'bind' ? refusedBind(code, diagnostic, isAnonymous) : null;
  if (refusal !== null) return new LdapError('credentials', server, refusal);
  switch (code) {
    case resultCode.noSuchObject:
      return new LdapError('baseDn', server, 'has no entry at the base DN, or does not show it to the bind account.');
    case resultCode.invalidDnSyntax:
      return new LdapError('baseDn', server, 'says that the base DN is not a valid DN.');
    case resultCode.insufficientAccessRights:
      return new LdapError('credentials', server, 'does not let the bind account read this part of the directory.');
    case resultCode.operationsError:
      return wantsBind(diagnostic)
        ? new LdapError('credentials', server, 'does not allow anonymous searches; enter a bind DN and its password.')
        : new LdapError('protocol', server, 'could not carry out the request (result code 1).');
    case resultCode.referral:
      return new LdapError('protocol', server, 'refers to another server for this base DN; enter that server instead.');
    case resultCode.sizeLimitExceeded:
    case resultCode.adminLimitExceeded:
      return new LdapError(
        'protocol',
        server,
        'cut off the answer at its size limit; raise the limits for the bind account, including the total over all pages.',
      );
    case resultCode.timeLimitExceeded:
      return new LdapError('timeout', server, 'stopped the search at its time limit.');
    case resultCode.strongerAuthRequired:
    case resultCode.confidentialityRequired:
      return new LdapError('protocol', server, 'requires an encrypted connection; choose StartTLS or ldaps.');
    case resultCode.unavailableCriticalExtension:
      return new LdapError('protocol', server, 'does not support a function that the portal needs.');
    case resultCode.busy:
    case resultCode.unavailable:
      return new LdapError('unreachable', server, 'is too busy or not available at the moment.');
    default:
      return new LdapError('protocol', server, `refused the request (result code ${code}).`);
  }
}

/** Turns a socket error (DNS lookup, connection or TLS handshake) into a failure. */
export function socketFailure(server: LdapAddress, error: unknown): LdapError {
  const { code = '' } = error as { code?: string };
  const fault = certificateFault(code);
  if (fault !== null) return new LdapError('certificate', server, `shows a certificate that ${fault}.`);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    return new LdapError('protocol', server, 'could not agree on encryption with the portal; check the port.');
  }
  switch (code) {
    case 'ECONNREFUSED':
      return new LdapError('unreachable', server, 'accepts no connections; check host and port.');
    case 'ENOTFOUND':
      return new LdapError('unreachable', server, 'could not be found; check the spelling of the host.');
    case 'OUTBOUND_BLOCKED':
      return new LdapError('unreachable', server, 'is not at an address that the portal may call.');
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
      return new LdapError('unreachable', server, 'cannot be reached from this network.');
    case 'ETIMEDOUT':
      return new LdapError('timeout', server, 'did not answer in time.');
    default:
      return new LdapError('unreachable', server, 'broke off the connection.');
  }
}
