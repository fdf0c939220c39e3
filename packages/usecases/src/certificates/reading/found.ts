import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import 'reflect-metadata';
import { ExtensionFactory, GeneralName, Pkcs10CertificateRequest } from '@peculiar/x509';
import type { Element } from '@portal/domain/certificates/der';
import {
  type BasicConstraints,
  basicConstraintsOf,
  type Extension,
  extensionOids,
  extensionsOf,
  generalNamesIn,
  otherNameOf,
  requestedExtensionsOf,
} from '@portal/domain/certificates/extensions';
import { isVersion1 } from './der-kind.ts';
import { unsupported } from './not-usable.ts';
import { pemOf } from './pem-blocks.ts';

interface FoundPart {
  /** SHA-256 of the DER; for a key, of its public key. */
  id: string;
  /** SHA-256 of the public key (SPKI); null if the runtime does not support its kind. */
  publicKeyId: string | null;
  keyType: string;
  hasWeakKey: boolean;
  pem: string;
  files: Set<string>;
}

export interface FoundCertificate extends FoundPart {
  type: 'certificate';
  x509: X509Certificate;
  publicKey: KeyObject | null;
  /** One line per part of the name; empty if the certificate has none. */
  subject: string;
  issuer: string;
  serialNumber: string | null;
  signatureAlgorithm: string;
  /** OIDs of the allowed uses; null if it does not restrict them. */
  extendedKeyUsage: string[] | null;
  infoAccess: string;
  notBefore: Date;
  notAfter: Date;
  sans: string[];
  /** Whether it can issue certificates. Version 1 certificates cannot state this and count as authorities. */
  isCa: boolean;
  isVersion1: boolean;
  isSelfSigned: boolean;
  /** Maximum number of authorities between it and the leaf. */
  pathLength: number;
  /** OIDs of the extensions that cannot be read. */
  unreadable: string[];
}

export interface FoundRequest extends FoundPart {
  type: 'csr';
  der: Uint8Array;
  subject: string;
  sans: string[];
}

export interface FoundKey extends FoundPart {
  type: 'key';
  key: KeyObject;
}

export type Found = FoundCertificate | FoundRequest | FoundKey;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** OpenSSL does not support larger keys. */
const maxRsaBits = 16_384;
const curveNames: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

function keyFactsOf(key: KeyObject): Pick<FoundPart, 'publicKeyId' | 'keyType' | 'hasWeakKey'> {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const publicKeyId = sha256(publicKey.export({ type: 'spki', format: 'der' }));
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      if (modulusLength > maxRsaBits) throw unsupported(`RSA keys of more than ${maxRsaBits} bits are not supported.`);
      return {
        publicKeyId,
        keyType: `${key.asymmetricKeyType.toUpperCase()} ${modulusLength}`,
        hasWeakKey: modulusLength < 2_048,
      };
    case 'dsa':
      return { publicKeyId, keyType: `DSA ${modulusLength}`, hasWeakKey: true };
    case 'ec':
      return {
        publicKeyId,
        keyType: `EC ${curveNames[namedCurve] ?? namedCurve}`,
        // The name of a curve contains its size.
        hasWeakKey: Number(/\d{3}/.exec(namedCurve)?.[0] ?? 0) < 256,
      };
    default: {
      const name = key.asymmetricKeyType ?? 'unknown';
      return { publicKeyId, keyType: name.charAt(0).toUpperCase() + name.slice(1), hasWeakKey: false };
    }
  }
}

const unknownKey = { publicKeyId: null, keyType: 'unknown', hasWeakKey: false };

/** Reads all data of a certificate at once, so that an unreadable one is rejected alone. Throws if the bytes are not a certificate. */
export function foundCertificate(der: Uint8Array): FoundCertificate {
  const x509 = new X509Certificate(der);
  const publicKey = publicKeyOf(x509);
  const version1 = isVersion1(x509.raw);
  // Despite its types, the runtime leaves out empty fields. RFC 5280, 4.1.2.6 allows an empty subject with critical alternative names.
  const fields: Partial<X509Certificate> = x509;
  const {
    subject = '',
    issuer = '',
    serialNumber = null,
    signatureAlgorithm = '',
    keyUsage: extendedKeyUsage = null,
    infoAccess = '',
  } = fields;
  const { constraints, names, unreadable } = extensionFactsOf(extensionsOf(x509.raw));
  return {
    type: 'certificate',
    id: sha256(x509.raw),
    ...(publicKey === null ? unknownKey : keyFactsOf(publicKey)),
    pem: pemOf('CERTIFICATE', x509.raw),
    files: new Set(),
    x509,
    publicKey,
    subject,
    issuer,
    serialNumber,
    signatureAlgorithm,
    extendedKeyUsage,
    infoAccess,
    notBefore: x509.validFromDate,
    notAfter: x509.validToDate,
    sans: sansOf(x509.subjectAltName ?? '', names),
    isCa: x509.ca || version1 || (unreadable.length > 0 && constraints.isCa),
    isVersion1: version1,
    isSelfSigned: subject === issuer && publicKey !== null && isSignedBy(x509, publicKey),
    pathLength: constraints.pathLength,
    unreadable,
  };
}

function publicKeyOf(x509: X509Certificate): KeyObject | null {
  try {
    return x509.publicKey;
  } catch {
    // The runtime does not support this kind of key.
    return null;
  }
}

export function isSignedBy(x509: X509Certificate, publicKey: KeyObject): boolean {
  try {
    return x509.verify(publicKey);
  } catch {
    // The signature algorithm does not match the key.
    return false;
  }
}

/**
 * Parses `DNS:a.example, IP Address:192.0.2.1, othername:<unsupported>`; values with a comma or a quote are quoted. `otherNames` has the
 * values of the othername entries in their order, because the runtime does not show all of them.
 */
function sansOf(text: string, otherNames: string[]): string[] {
  let at = 0;
  return [...text.matchAll(/(?<=^|, )([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)].map(([, kind, value = '']) => {
    const otherName = kind === 'othername' ? otherNames[at++] : undefined;
    return otherName ?? (value.startsWith('"') ? String(JSON.parse(value)) : value);
  });
}

/**
 * The basic constraints, the other names and the unreadable extensions. RFC 5280, 4.2: an extension must not appear twice. The runtime does
 * not treat a certificate with an unreadable extension as an authority.
 */
function extensionFactsOf(
  extensions: Extension[],
): Pick<FoundCertificate, 'unreadable'> & { constraints: BasicConstraints; names: string[] } {
  let names: string[] = [];
  let constraints: BasicConstraints = { isCa: false, pathLength: Infinity };
  const unreadable = new Set<string>();
  const seen = new Set<string>();
  for (const { oid, value, der } of extensions) {
    try {
      if (oid === extensionOids.basicConstraints) constraints = basicConstraintsOf(value);
      // The library knows few kinds of names and treats the others as damage.
      if (oid === extensionOids.alternativeNames)
        names = generalNamesIn(value).flatMap((name) => otherNameOf(name) ?? []);
      else ExtensionFactory.create(der);
      if (seen.has(oid)) unreadable.add(oid);
    } catch {
      unreadable.add(oid);
    }
    seen.add(oid);
  }
  return { constraints, names, unreadable: [...unreadable] };
}

/** Throws if the bytes are not a certificate request. */
export function foundRequest(der: Uint8Array): FoundRequest {
  const request = new Pkcs10CertificateRequest(der);
  const key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
  const names = requestedExtensionsOf(der).find(({ oid }) => oid === extensionOids.alternativeNames);
  return {
    type: 'csr',
    id: sha256(der),
    ...keyFactsOf(key),
    pem: pemOf('CERTIFICATE REQUEST', der),
    files: new Set(),
    der,
    subject: request.subject,
    sans: generalNamesIn(names?.value ?? new Uint8Array()).map(textOfName),
  };
}

/** A name; an unreadable one is shown like the runtime shows it in certificates. */
function textOfName(name: Element): string {
  try {
    return otherNameOf(name) ?? new GeneralName(name.whole).value;
  } catch {
    return '<unsupported>';
  }
}

export function foundKey(key: KeyObject): FoundKey {
  const facts = keyFactsOf(key);
  return {
    type: 'key',
    id: facts.publicKeyId ?? '',
    ...facts,
    pem: key.export({ type: 'pkcs8', format: 'pem' }),
    files: new Set(),
    key,
  };
}
