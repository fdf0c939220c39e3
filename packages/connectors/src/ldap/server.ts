import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { domainToASCII } from 'node:url';
import type { Secret } from '@portal/domain/secret';
import type { AddressPolicy } from '../http/checked-address.ts';

/** How to reach a directory server, without credentials. */
export interface LdapHost {
  /** `ldap://host[:port]` or `ldaps://host[:port]`; ports default to 389 and 636. */
  url: string;
  /** Encrypts an `ldap://` connection before sending anything else; ignored for `ldaps://`. */
  startTls: boolean;
  /** Accepts any certificate, so an attacker in between can read the traffic. */
  skipTlsVerify: boolean;
  /** PEM of the authorities to trust instead of those of the system. */
  caCertificatePem: string | null;
  /** The addresses that the host may have. */
  policy: AddressPolicy;
}

export interface LdapServer extends LdapHost {
  /** The bind is anonymous unless both are present. */
  bindDn: string | null;
  bindPassword: Secret | null;
}

export interface LdapAddress {
  host: string;
  port: number;
  isTls: boolean;
}

/** Throws a TypeError for anything but an LDAP URL. */
export function ldapAddress(url: string): LdapAddress {
  const { protocol, hostname, port } = new URL(url);
  if ((protocol !== 'ldap:' && protocol !== 'ldaps:') || hostname === '') throw new TypeError('Not an LDAP URL');
  const isTls = protocol === 'ldaps:';
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    // URL percent-encodes international host names in schemes it does not know
    host: isIP(name) ? name : domainToASCII(decodeURIComponent(name)) || name,
    port: port === '' ? (isTls ? 636 : 389) : Number(port),
    isTls,
  };
}

export const tlsOptions = (server: LdapHost, host: string): ConnectionOptions => ({
  host,
  // SNI must not be an IP address (RFC 6066 section 3); Node then checks the certificate against `host`
  ...(isIP(host) ? {} : { servername: host }),
  ...(server.caCertificatePem === null ? {} : { ca: server.caCertificatePem }),
  rejectUnauthorized: !server.skipTlsVerify,
});
