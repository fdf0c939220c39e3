import { X509Certificate } from 'node:crypto';
import { CaCertificatePem, certificatesIn, notCertificates } from '@portal/domain/ca-certificates';

/** Authorities that can be read. What holds no certificates at all is refused already, and by the same words. */
export const ReadableCaCertificatePem = CaCertificatePem.refine(
  (pem) => pem === null || (certificatesIn(pem) ?? []).every(isReadable),
  notCertificates,
);

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).raw.length > 0;
  } catch {
    return false;
  }
}
