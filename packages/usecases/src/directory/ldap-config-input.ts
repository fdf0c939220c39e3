import { X509Certificate } from 'node:crypto';
import { certificatesIn, LdapConfigInput, notCertificates } from '@portal/domain/directory/config';

/** The settings of a directory, and its certificates are some. */
export const ReadableLdapConfigInput = LdapConfigInput.safeExtend({
  // What holds no certificates at all is refused already, and by the same words.
  caCertificatePem: LdapConfigInput.shape.caCertificatePem.refine(
    (pem) => pem === null || (certificatesIn(pem) ?? []).every(isReadable),
    notCertificates,
  ),
}).meta(LdapConfigInput.meta() ?? {});

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).raw.length > 0;
  } catch {
    return false;
  }
}
