/** The target of a secret: everything that decides who can read it there and on the way. */
export interface SecretTarget {
  /** `smtp`, `ldap`, `ldaps`, `https` … */
  scheme: string;
  /** The host that is dialled, in lower case. */
  host: string;
  port: number;
  /** The account that the secret belongs to; null for none. */
  account: string | null;
  /** `tls` from the first byte, `starttls` before the secret is sent, `none` never. */
  encryption: 'tls' | 'starttls' | 'none';
  /** Whether the server must show a valid certificate. */
  verifiesCertificate: boolean;
  /** The accepted issuers of the certificate, in PEM form; null for those that the system trusts. */
  authorities: string | null;
}

const strength = { none: 0, starttls: 1, tls: 2 } as const;

/** The authorities that the target trusts; `unverified` if a third party on the way can impersonate the server. */
const trusted = ({ encryption, verifiesCertificate, authorities }: SecretTarget): string | null =>
  encryption === 'none' || !verifiesCertificate ? 'unverified' : authorities;

/**
 * Whether a secret stored for one target may be sent to another. Server and account must be the same, and the
 * encryption and the certificate check at least as strict. Other authorities count as less strict, because we cannot know whom they
 * certify. A secret stored without a target may not be sent to any.
 */
export function mayTravel(storedFor: SecretTarget | null, to: SecretTarget | null): boolean {
  if (storedFor === null || to === null) return storedFor === to;
  return (
    storedFor.scheme === to.scheme &&
    storedFor.host === to.host &&
    storedFor.port === to.port &&
    storedFor.account === to.account &&
    strength[to.encryption] >= strength[storedFor.encryption] &&
    (trusted(storedFor) === 'unverified' || trusted(storedFor) === trusted(to))
  );
}
