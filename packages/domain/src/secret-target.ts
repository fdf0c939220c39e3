/** Where a secret travels: all that decides who gets to read it there and on the way. */
export interface SecretTarget {
  /** `smtp`, `ldap`, `ldaps`, `https` … */
  scheme: string;
  /** As it is dialled, in lower case. */
  host: string;
  port: number;
  /** The name it is the secret of; null for none. */
  account: string | null;
  /** From the first byte, before the secret is sent, or never. */
  encryption: 'tls' | 'starttls' | 'none';
  /** Whether the server has to show a valid certificate. */
  verifiesCertificate: boolean;
  /** Who may have issued it, in PEM form; null for those the system trusts. */
  authorities: string | null;
}

const strength = { none: 0, starttls: 1, tls: 2 } as const;

/** Who can pass for the server: anybody on the way, or whom these authorities have certified. */
const trusted = ({ encryption, verifiesCertificate, authorities }: SecretTarget): string | null =>
  encryption === 'none' || !verifiesCertificate ? 'anybody' : authorities;

/**
 * Whether a secret that was stored for one target may be sent to another (contract section 1): to the same server and account, over
 * a way that is no less encrypted, and to nobody who could not have read it before. Other authorities count as less, for nobody here
 * can tell whom they certify; without a target there is no way at all.
 */
export function mayTravel(storedFor: SecretTarget | null, to: SecretTarget | null): boolean {
  if (storedFor === null || to === null) return storedFor === to;
  return (
    storedFor.scheme === to.scheme &&
    storedFor.host === to.host &&
    storedFor.port === to.port &&
    storedFor.account === to.account &&
    strength[to.encryption] >= strength[storedFor.encryption] &&
    (trusted(storedFor) === 'anybody' || trusted(storedFor) === trusted(to))
  );
}
