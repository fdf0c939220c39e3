import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';

export type ServerCertificate = 'localhost' | 'elsewhere' | 'expired' | 'self-signed';

/** Where a certificate or the key of all of them lies; see the README of `fixtures`. */
export const fixturePath = (name: ServerCertificate | 'key' | 'ca' | 'other-ca'): string =>
  fileURLToPath(new URL(`./fixtures/${name}.pem`, import.meta.url));

const pem = (name: Parameters<typeof fixturePath>[0]): string => readFileSync(fixturePath(name), 'utf8');

/** The authority behind every server certificate but the self-signed one. */
export const caCertificatePem = pem('ca');

/** An authority that issued none of them. */
export const otherCaCertificatePem = pem('other-ca');

export const serverKeyPem = pem('key');

export const serverCertificatePem = (name: ServerCertificate): string => pem(name);

/**
 * Has this process trust the authority of the tests beside those of the machine, as NODE_EXTRA_CA_CERTS does for one that is started:
 * for what people set without a word on certificates.
 */
export const trustTestAuthority = (): void => setDefaultCACertificates([...getCACertificates(), caCertificatePem]);
