import { text } from './text.ts';

const pemCertificates =
  /-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN CERTIFICATE-----)[\s\S])+?-----END CERTIFICATE-----/g;

/** Splits a PEM text into its certificates. Null for any other content: a private key pasted along would be stored unencrypted. */
export function certificatesIn(pem: string): string[] | null {
  const certificates = pem.match(pemCertificates) ?? [];
  return certificates.length === 0 || /-----BEGIN (?!CERTIFICATE-----)/.test(pem) ? null : certificates;
}

export const notCertificates = 'must be one or more certificates in PEM form and nothing else';

/** The authorities that may have issued a server's certificate. This package only checks the form, not the certificates themselves. */
export const CaCertificatePem = text(100_000)
  .trim()
  .nullable()
  .overwrite((pem) => (pem === '' ? null : pem))
  .default(null)
  .refine((pem) => pem === null || certificatesIn(pem) !== null, notCertificates)
  .describe(
    'The authorities that may have issued the server’s certificate, in PEM form; null means the authorities that the system trusts',
  );
