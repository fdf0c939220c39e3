import { type Element, elementsIn, numberIn, octetsIn, oidIn, within } from './der.ts';
import { type Algorithm, algorithmIn, type Derivation, derivationIn, hashOfHmac, type Unknown } from './protection.ts';

export interface Locked {
  algorithm: Algorithm;
  bytes: Uint8Array;
}

export interface LockedKey extends Locked {
  /** All of it, in PKCS#8. */
  whole: Uint8Array;
}

/** What the password vouches for the content with: an HMAC under a key that is made of it. */
export type Checksum =
  | { type: 'pkcs12'; digest: Uint8Array; hash: string; salt: Uint8Array; rounds: number; keyBytes: number }
  | { type: 'pbmac1'; digest: Uint8Array; hash: string; derivation: Derivation }
  | Unknown;

/** What bags stand in, one part of a PFX. */
export type Safe =
  | { type: 'open'; bytes: Uint8Array }
  | { type: 'locked'; locked: Locked }
  | { type: 'other' }
  | { type: 'damaged' };

export type Bag =
  | { type: 'certificate' | 'key'; der: Uint8Array }
  | { type: 'locked-key'; locked: LockedKey }
  | { type: 'other'; what: string }
  | { type: 'damaged' };

export interface Pfx {
  /** What the checksum is over. */
  content: Uint8Array;
  checksum: Checksum | null;
}

const contents = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
};
const bags = {
  key: '1.2.840.113549.1.12.10.1.1',
  lockedKey: '1.2.840.113549.1.12.10.1.2',
  certificate: '1.2.840.113549.1.12.10.1.3',
  list: '1.2.840.113549.1.12.10.1.4',
  secret: '1.2.840.113549.1.12.10.1.5',
  bags: '1.2.840.113549.1.12.10.1.6',
};
const x509Certificate = '1.2.840.113549.1.9.22.1';
const pbmac1 = '1.2.840.113549.1.5.14';
const hashes: Record<string, { hash: string; keyBytes: number }> = {
  '1.2.840.113549.2.5': { hash: 'md5', keyBytes: 16 },
  '1.3.14.3.2.26': { hash: 'sha1', keyBytes: 20 },
  '2.16.840.1.101.3.4.2.1': { hash: 'sha256', keyBytes: 32 },
  '2.16.840.1.101.3.4.2.2': { hash: 'sha384', keyBytes: 48 },
  '2.16.840.1.101.3.4.2.3': { hash: 'sha512', keyBytes: 64 },
  '2.16.840.1.101.3.4.2.4': { hash: 'sha224', keyBytes: 28 },
};
const minMacKeyBytes = 20;
const sequence = 0x30;
const maxDepth = 8;

/**
 * A PFX whose content a password vouches for; null for one that a signature vouches for. RFC 7292, 4: SEQUENCE { version, authSafe ContentInfo,
 * macData OPTIONAL }. Throws a RangeError when the bytes are no PFX.
 */
export function pfxIn(der: Uint8Array): Pfx | null {
  const [outer] = elementsIn(der);
  const [, authSafe, macData] = within(outer);
  const [type, content] = within(authSafe);
  if (oidIn(type) !== contents.data) return null;
  return { content: octetsIn(within(content)[0]), checksum: macData ? checksumIn(macData) : null };
}

/**
 * RFC 7292, 4: MacData is SEQUENCE { SEQUENCE { algorithm, digest }, salt, iterations INTEGER DEFAULT 1 }, and its key is as long as the digest
 * (B.4). RFC 9579, 4: where the algorithm is PBMAC1, its parameters tell all of it, SEQUENCE { keyDerivationFunc, messageAuthScheme } (RFC 8018,
 * A.5), the length of the key among it, and salt and iterations mean nothing. A key below 20 bytes is refused, as is recommended there.
 */
function checksumIn(macData: Element): Checksum {
  const [mac, salt, rounds] = within(macData);
  const [element, digestElement] = within(mac);
  const { oid, parameters } = algorithmIn(element);
  const digest = octetsIn(digestElement);
  if (oid === pbmac1) {
    const [derivedBy, scheme] = within(parameters).map(algorithmIn);
    const hash = hashOfHmac(scheme?.oid ?? '');
    if (!hash) return { type: 'unknown', oid: scheme?.oid ?? oid };
    const derivation = derivationIn(derivedBy, null);
    if (derivation.type === 'unknown') return derivation;
    if (derivation.keyBytes < minMacKeyBytes) throw new RangeError('A key of too few bytes.');
    return { type: 'pbmac1', digest, hash, derivation };
  }
  const known = hashes[oid];
  if (!known) return { type: 'unknown', oid };
  return { type: 'pkcs12', digest, ...known, salt: octetsIn(salt), rounds: rounds ? numberIn(rounds) : 1 };
}

/**
 * The parts of a PFX. RFC 7292, 4.1: a SEQUENCE of ContentInfo, which is data, data encrypted under a password (RFC 5652, 8) or data encrypted
 * under somebody's public key. Throws a RangeError when the bytes are something else; a part that cannot be read does not hide the others.
 */
export function safesIn(content: Uint8Array): Safe[] {
  const [list] = elementsIn(content);
  return within(list).map((safe) => {
    try {
      return safeOf(safe);
    } catch {
      return { type: 'damaged' };
    }
  });
}

function safeOf(safe: Element): Safe {
  const [type, tagged] = within(safe);
  const [body] = within(tagged);
  switch (oidIn(type)) {
    case contents.data:
      return { type: 'open', bytes: octetsIn(body) };
    case contents.encryptedData: {
      const [, encrypted] = within(body);
      const [, algorithm, bytes] = within(encrypted);
      return { type: 'locked', locked: { algorithm: algorithmIn(algorithm), bytes: octetsIn(bytes) } };
    }
    default:
      return { type: 'other' };
  }
}

/**
 * What one part of a PFX holds. RFC 7292, 4.2: SafeContents is a SEQUENCE of SafeBag, SEQUENCE { bagId, [0] bagValue, attributes }, of which
 * there are keys (4.2.1), locked keys (4.2.2), certificates (4.2.3), revocation lists (4.2.4), secrets (4.2.5) and bags of bags (4.2.6).
 * Throws a RangeError when the bytes are something else; a bag that cannot be read does not hide the others.
 */
export function bagsIn(safeContents: Uint8Array, depth = 0): Bag[] {
  const [list, ...others] = elementsIn(safeContents);
  if (list?.tag !== sequence || others.length > 0 || depth > maxDepth) throw new RangeError('Not a list of bags.');
  return within(list).flatMap((bag): Bag[] => {
    try {
      return bagsOf(bag, depth);
    } catch {
      return [{ type: 'damaged' }];
    }
  });
}

function bagsOf(bag: Element, depth: number): Bag[] {
  const [id, tagged] = within(bag);
  const [value] = within(tagged);
  switch (oidIn(id)) {
    case bags.key:
      return [{ type: 'key', der: value?.whole ?? new Uint8Array() }];
    case bags.lockedKey:
      return [{ type: 'locked-key', locked: lockedKeyIn(value) }];
    case bags.certificate: {
      const [kind, certificate] = within(value);
      return oidIn(kind) === x509Certificate
        ? [{ type: 'certificate', der: octetsIn(within(certificate)[0]) }]
        : [{ type: 'other', what: 'a certificate that is none of X.509' }];
    }
    case bags.list:
      return [{ type: 'other', what: 'a list of revoked certificates (CRL)' }];
    case bags.secret:
      return [{ type: 'other', what: 'a secret' }];
    case bags.bags:
      return bagsIn(value?.whole ?? new Uint8Array(), depth + 1);
    default:
      return [{ type: 'other', what: 'a bag of an unknown kind' }];
  }
}

/** RFC 5958, 3: EncryptedPrivateKeyInfo ::= SEQUENCE { encryptionAlgorithm, encryptedData OCTET STRING }. */
export function lockedKeyIn(element: Element | undefined): LockedKey {
  const [algorithm, bytes] = within(element);
  return { algorithm: algorithmIn(algorithm), bytes: octetsIn(bytes), whole: element?.whole ?? new Uint8Array() };
}
