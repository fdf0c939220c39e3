/** The fault of a certificate by the code of Node's TLS error, worded to follow "a certificate that"; null for other errors. */
export function certificateFault(code: string): string | null {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'has expired';
    case 'CERT_NOT_YET_VALID':
      return 'is not valid yet';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return 'was issued for another name';
    case 'CERT_REVOKED':
      return 'has been revoked';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'is self-signed';
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'CERT_UNTRUSTED':
      return 'does not come from an authority that this system trusts';
    default:
      return /^(CERT_|CRL_|INVALID_CA|PATH_LENGTH_|INVALID_PURPOSE|UNABLE_TO_)/.test(code) ? 'is not valid' : null;
  }
}
