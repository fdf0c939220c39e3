import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { domainToASCII } from 'node:url';
import type { Secret } from '@portal/domain/secret';
import type { AddressPolicy } from '../http/checked-address.ts';

/** How to reach a directory server, without who asks. */
export interface LdapHost {
  /** `ldap://host[:port]` or `ldaps://host[:port]`; ports default to 389 and 636. */
  url: string;
  /** Encrypt an `ldap://` connection before anything else is sent; without meaning for `ldaps://`. */
  startTls: boolean;
  /** Accept any certificate, so anyone in between may read along. */
  skipTlsVerify: boolean;
  /** PEM of the authorities that may have issued the server's certificate, in place of those the system trusts. */
  caCertificatePem: string | null;
  /** Which addresses it may have. */
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
    // URL percent-encodes an international name of a scheme it does not know
    host: isIP(name) ? name : domainToASCII(decodeURIComponent(name)) || name,
    port: port === '' ? (isTls ? 636 : 389) : Number(port),
    isTls,
  };
}

export const tlsOptions = (server: LdapHost, host: string): ConnectionOptions => ({
  host,
  // Server names are no addresses (RFC 6066 section 3); the certificate is then checked against `host`
  ...(isIP(host) ? {} : { servername: host }),
  ...(server.caCertificatePem === null ? {} : { ca: server.caCertificatePem }),
  rejectUnauthorized: !server.skipTlsVerify,
});
