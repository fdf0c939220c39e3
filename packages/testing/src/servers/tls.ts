import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';

export type ServerCertificate = 'localhost' | 'elsewhere' | 'expired' | 'self-signed';

/** The path of a certificate, or of the key of all certificates; see the README of `fixtures`. */
export const fixturePath = (name: ServerCertificate | 'key' | 'ca' | 'other-ca'): string =>
  fileURLToPath(new URL(`./fixtures/${name}.pem`, import.meta.url));

const pem = (name: Parameters<typeof fixturePath>[0]): string => readFileSync(fixturePath(name), 'utf8');

/** The authority that issued every server certificate except the self-signed one. */
export const caCertificatePem = pem('ca');

/** An authority that issued none of them. */
export const otherCaCertificatePem = pem('other-ca');

export const serverKeyPem = pem('key');

export const serverCertificatePem = (name: ServerCertificate): string => pem(name);

/**
 * Makes this process trust the test authority in addition to those of the machine, as NODE_EXTRA_CA_CERTS does at the start of a process.
 * Use it for addresses that have no certificate setting.
 */
export const trustTestAuthority = (): void => setDefaultCACertificates([...getCACertificates(), caCertificatePem]);
