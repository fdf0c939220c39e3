import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('cert-samples/', import.meta.url);

export interface CertificateSample {
  /** `generated/leaf-rsa.cert.pem` */
  path: string;
  name: string;
  bytes: Buffer;
}

/** A file of `cert-samples`; the README there describes each file and its origin. */
export function certificateSample(path: string): CertificateSample {
  return { path, name: path.split('/').at(-1) ?? path, bytes: readFileSync(new URL(path, folder)) };
}

/** All samples in order of their path. */
export const certificateSamples = (): CertificateSample[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('/') && !path.includes('LICENSE'))
    .toSorted()
    .map(certificateSample);
