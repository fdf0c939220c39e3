import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bits, element, integer, octets, oid, sequence, set, tagged, utf8 } from './der.ts';

export interface MadeCertificate {
  der: Buffer;
  pem: string;
  key: KeyObject;
  subject: string;
}

export interface CertificateOptions {
  /** The common name; empty for a name without parts. */
  subject?: string;
  /** The issuer; self-signed by default. */
  issuer?: Pick<MadeCertificate, 'key' | 'subject'>;
  /** Results of `extension`. */
  extensions?: Buffer[];
}

export const pemBlock = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`;

const nameOf = (commonName: string): Buffer =>
  sequence(...(commonName === '' ? [] : [set(sequence(oid('2.5.4.3'), utf8(commonName)))]));

export const extension = (id: string, value: Uint8Array, isCritical = false): Buffer =>
  sequence(oid(id), ...(isCritical ? [element(0x01, Buffer.from([0xff]))] : []), octets(value));

/** Subject alternative names, each encoded. */
export const alternativeNames = (...names: Buffer[]): Buffer => extension('2.5.29.17', sequence(...names), true);
export const dnsName = (name: string): Buffer => element(0x82, Buffer.from(name));

/** Basic constraints of a certificate authority, with the allowed number of authorities below it. */
export const authority = (pathLength?: number): Buffer =>
  extension(
    '2.5.29.19',
    sequence(element(0x01, Buffer.from([0xff])), ...(pathLength === undefined ? [] : [integer(pathLength)])),
    true,
  );

const ed25519 = sequence(oid('1.3.101.112'));

/** A minimal Ed25519 certificate that common tools would not write, valid from 2026 to 2036. */
export function makeCertificate({ subject = '', issuer, extensions = [] }: CertificateOptions): MadeCertificate {
  const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
  const time = (text: string) => element(0x17, Buffer.from(text));
  const body = sequence(
    tagged(0, integer(2)),
    integer(1),
    ed25519,
    nameOf(issuer?.subject ?? subject),
    sequence(time('260101000000Z'), time('360101000000Z')),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tagged(3, sequence(...extensions))]),
  );
  const der = sequence(body, ed25519, bits(sign(null, body, issuer?.key ?? key)));
  return { der, pem: pemBlock('CERTIFICATE', der), key, subject };
}

/** A certificate request with these extensions, each a result of `extension`. */
export function makeRequest(extensions: Buffer[]): Buffer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const requested = sequence(oid('1.2.840.113549.1.9.14'), set(sequence(...extensions)));
  const body = sequence(
    integer(0),
    nameOf(''),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0, requested),
  );
  return sequence(body, ed25519, bits(sign(null, body, privateKey)));
}
