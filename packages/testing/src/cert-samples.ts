import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('cert-samples/', import.meta.url);

export interface CertificateSample {
  /** `generated/leaf-rsa.cert.pem` */
  path: string;
  name: string;
  bytes: Buffer;
}

/** One of the files in `cert-samples`, whose README says what each is and where it comes from. */
export function certificateSample(path: string): CertificateSample {
  return { path, name: path.split('/').at(-1) ?? path, bytes: readFileSync(new URL(path, folder)) };
}

/** All of them, by their path. */
export const certificateSamples = (): CertificateSample[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('/') && !path.includes('LICENSE'))
    .toSorted()
    .map(certificateSample);
