import { childrenOf, type Element, elementsIn, numberIn, octetsIn, oidIn } from './der.ts';
import { type Algorithm, algorithmIn, type Derivation, derivationIn, hashOfHmac, type Unknown } from './protection.ts';

export interface Locked {
  algorithm: Algorithm;
  bytes: Uint8Array;
}

export interface LockedKey extends Locked {
  /** The whole encrypted key, in PKCS#8. */
  whole: Uint8Array;
}

/** The MAC over the content, with a key derived from the password. */
export type Checksum =
  | { type: 'pkcs12'; digest: Uint8Array; hash: string; salt: Uint8Array; rounds: number; keyBytes: number }
  | { type: 'pbmac1'; digest: Uint8Array; hash: string; derivation: Derivation }
  | Unknown;

/** One part of a PFX, which contains bags. */
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
  /** The bytes that the checksum covers. */
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
 * A PFX in password integrity mode; null for one in public-key integrity mode, which is signed. RFC 7292, 4: SEQUENCE { version, authSafe
 * ContentInfo, macData OPTIONAL }. Throws a RangeError if the bytes are not a PFX.
 */
export function pfxIn(der: Uint8Array): Pfx | null {
  const [outer] = elementsIn(der);
  const [, authSafe, macData] = childrenOf(outer);
  const [type, content] = childrenOf(authSafe);
  if (oidIn(type) !== contents.data) return null;
  return { content: octetsIn(childrenOf(content)[0]), checksum: macData ? checksumIn(macData) : null };
}

/**
 * RFC 7292, 4: MacData is SEQUENCE { SEQUENCE { algorithm, digest }, salt, iterations INTEGER DEFAULT 1 }; its key is as long as the digest
 * (B.4). RFC 9579, 4: for PBMAC1 the algorithm parameters contain everything, including the key length: SEQUENCE { keyDerivationFunc,
 * messageAuthScheme } (RFC 8018, A.5); salt and iterations are ignored. Keys below 20 bytes are refused, as the RFC recommends.
 */
function checksumIn(macData: Element): Checksum {
  const [mac, salt, rounds] = childrenOf(macData);
  const [element, digestElement] = childrenOf(mac);
  const { oid, parameters } = algorithmIn(element);
  const digest = octetsIn(digestElement);
  if (oid === pbmac1) {
    const [derivedBy, scheme] = childrenOf(parameters).map(algorithmIn);
    const hash = hashOfHmac(scheme?.oid ?? '');
    if (!hash) return { type: 'unknown', oid: scheme?.oid ?? oid };
    const derivation = derivationIn(derivedBy, null);
    if (derivation.type === 'unknown') return derivation;
    if (derivation.keyBytes < minMacKeyBytes) throw new RangeError('The key is too short.');
    return { type: 'pbmac1', digest, hash, derivation };
  }
  const known = hashes[oid];
  if (!known) return { type: 'unknown', oid };
  return { type: 'pkcs12', digest, ...known, salt: octetsIn(salt), rounds: rounds ? numberIn(rounds) : 1 };
}

/**
 * The parts of a PFX. RFC 7292, 4.1: a SEQUENCE of ContentInfo, which is plain data, data encrypted with a password (RFC 5652, 8) or data
 * encrypted with a public key. Throws a RangeError for other bytes. An unreadable part is returned as `damaged`, next to the others.
 */
export function safesIn(content: Uint8Array): Safe[] {
  const [list] = elementsIn(content);
  return childrenOf(list).map((safe) => {
    try {
      return safeOf(safe);
    } catch {
      return { type: 'damaged' };
    }
  });
}

function safeOf(safe: Element): Safe {
  const [type, tagged] = childrenOf(safe);
  const [body] = childrenOf(tagged);
  switch (oidIn(type)) {
    case contents.data:
      return { type: 'open', bytes: octetsIn(body) };
    case contents.encryptedData: {
      const [, encrypted] = childrenOf(body);
      const [, algorithm, bytes] = childrenOf(encrypted);
      return { type: 'locked', locked: { algorithm: algorithmIn(algorithm), bytes: octetsIn(bytes) } };
    }
    default:
      return { type: 'other' };
  }
}

/**
 * The bags of one part of a PFX. RFC 7292, 4.2: SafeContents is a SEQUENCE of SafeBag, SEQUENCE { bagId, [0] bagValue, attributes }. Bags
 * contain keys (4.2.1), encrypted keys (4.2.2), certificates (4.2.3), revocation lists (4.2.4), secrets (4.2.5) or other bags (4.2.6).
 * Throws a RangeError for other bytes. An unreadable bag is returned as `damaged`, next to the others.
 */
export function bagsIn(safeContents: Uint8Array, depth = 0): Bag[] {
  const [list, ...others] = elementsIn(safeContents);
  if (list?.tag !== sequence || others.length > 0 || depth > maxDepth) throw new RangeError('Not a list of bags.');
  return childrenOf(list).flatMap((bag): Bag[] => {
    try {
      return bagsOf(bag, depth);
    } catch {
      return [{ type: 'damaged' }];
    }
  });
}

function bagsOf(bag: Element, depth: number): Bag[] {
  const [id, tagged] = childrenOf(bag);
  const [value] = childrenOf(tagged);
  switch (oidIn(id)) {
    case bags.key:
      return [{ type: 'key', der: value?.whole ?? new Uint8Array() }];
    case bags.lockedKey:
      return [{ type: 'locked-key', locked: lockedKeyIn(value) }];
    case bags.certificate: {
      const [kind, certificate] = childrenOf(value);
      return oidIn(kind) === x509Certificate
        ? [{ type: 'certificate', der: octetsIn(childrenOf(certificate)[0]) }]
        : [{ type: 'other', what: 'a certificate that is not X.509' }];
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
  const [algorithm, bytes] = childrenOf(element);
  return { algorithm: algorithmIn(algorithm), bytes: octetsIn(bytes), whole: element?.whole ?? new Uint8Array() };
}
