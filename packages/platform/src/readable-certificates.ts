import { X509Certificate } from 'node:crypto';
import { CaCertificatePem, certificatesIn, notCertificates } from '@portal/domain/ca-certificates';

/** CA certificates that can be parsed. Input without any certificate is already refused, with the same message. */
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
