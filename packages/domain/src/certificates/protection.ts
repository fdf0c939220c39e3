import { childrenOf, type Element, numberIn, octetsIn, oidIn } from './der.ts';

/** AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL } (RFC 5280, 4.1.1.2). */
export interface Algorithm {
  oid: string;
  parameters: Element | undefined;
}

/** Parameters of PBKDF2 for deriving a key from a UTF-8 password (RFC 8018, 5.2). */
export interface Derivation {
  type: 'pbkdf2';
  salt: Uint8Array;
  rounds: number;
  keyBytes: number;
  hash: string;
}

/** A cipher in CBC mode, with its OpenSSL name. */
export interface Cipher {
  name: string;
  keyBytes: number;
  /** Effective key bits; only for RC2. */
  bits?: number;
}

/** An algorithm that is not in the tables of this file. */
export interface Unknown {
  type: 'unknown';
  oid: string;
}

/** How bytes are encrypted with a password. */
export type Protection =
  | { type: 'pbes2'; derivation: Derivation; cipher: Cipher; iv: Uint8Array }
  | { type: 'pkcs12'; salt: Uint8Array; rounds: number; cipher: Cipher }
  | Unknown;

const tag = { integer: 0x02, sequence: 0x30 };
const pbes2 = '1.2.840.113549.1.5.13';
const pbkdf2 = '1.2.840.113549.1.5.12';
const rc2 = '1.2.840.113549.3.2';
const hmacWithSha1 = '1.2.840.113549.2.7';
/** Far more than ciphers and HMACs use. */
const maxKeyBytes = 256;

const ciphers: Record<string, Cipher> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyBytes: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyBytes: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyBytes: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyBytes: 24 },
  '1.3.14.3.2.7': { name: 'des', keyBytes: 8 },
};
const pkcs12Ciphers: Record<string, Cipher> = {
  '1.2.840.113549.1.12.1.3': { name: 'des-ede3-cbc', keyBytes: 24 },
  '1.2.840.113549.1.12.1.4': { name: 'des-ede-cbc', keyBytes: 16 },
  '1.2.840.113549.1.12.1.5': { name: 'rc2', keyBytes: 16, bits: 128 },
  '1.2.840.113549.1.12.1.6': { name: 'rc2', keyBytes: 5, bits: 40 },
};
const rc2Bits = { byVersion: { 160: 40, 120: 64, 58: 128 } as Record<number, number>, default: 32, max: 1_024 };
const hmacs: Record<string, string> = {
  [hmacWithSha1]: 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
  '1.2.840.113549.2.12': 'sha512-224',
  '1.2.840.113549.2.13': 'sha512-256',
};

/** Throws a RangeError for another element. */
export function algorithmIn(element: Element | undefined): Algorithm {
  const [oid, parameters] = childrenOf(element);
  return { oid: oidIn(oid), parameters };
}

/**
 * Reads how data is encrypted. RFC 8018, A.4: PBES2 is SEQUENCE { keyDerivationFunc, encryptionScheme }; the scheme parameters are the IV
 * (B.2), or contain it for RC2. RFC 7292, C: the parameters of the PKCS#12 schemes are SEQUENCE { salt, iterations }; the table omits the
 * schemes with RC4. Throws a RangeError if it cannot be read.
 */
export function protectionIn({ oid, parameters }: Algorithm): Protection {
  if (oid === pbes2) {
    const [derivedBy, scheme] = childrenOf(parameters).map(algorithmIn);
    const cipher = scheme?.oid === rc2 ? rc2In(scheme) : ciphers[scheme?.oid ?? ''];
    if (!scheme || !cipher) return { type: 'unknown', oid: scheme?.oid ?? oid };
    const derivation = derivationIn(derivedBy, cipher.keyBytes);
    const iv = octetsIn(scheme.oid === rc2 ? childrenOf(scheme.parameters).at(-1) : scheme.parameters);
    return derivation.type === 'unknown' ? derivation : { type: 'pbes2', derivation, cipher, iv };
  }
  const cipher = pkcs12Ciphers[oid];
  if (!cipher) return { type: 'unknown', oid };
  const [salt, rounds] = childrenOf(parameters);
  return { type: 'pkcs12', salt: octetsIn(salt), rounds: numberIn(rounds), cipher };
}

/** RFC 8018, B.2.3: SEQUENCE { rc2ParameterVersion INTEGER OPTIONAL, iv OCTET STRING }; the version encodes the effective key bits. */
function rc2In({ parameters }: Algorithm): Cipher {
  const [version, iv] = childrenOf(parameters);
  const number = iv ? numberIn(version) : null;
  const bits = number === null ? rc2Bits.default : (rc2Bits.byVersion[number] ?? number);
  if (bits > rc2Bits.max) throw new RangeError('RC2 does not have that many key bits.');
  return { name: 'rc2', keyBytes: Math.ceil(bits / 8), bits };
}

/**
 * PBKDF2. RFC 8018, A.2: SEQUENCE { salt, iterationCount INTEGER, keyLength INTEGER OPTIONAL, prf DEFAULT hmacWithSHA1 }. `keyBytes` is the
 * default for a missing keyLength; null makes keyLength required. Throws a RangeError if it cannot be read.
 */
export function derivationIn(algorithm: Algorithm | undefined, keyBytes: number | null): Derivation | Unknown {
  if (algorithm?.oid !== pbkdf2) return { type: 'unknown', oid: algorithm?.oid ?? pbkdf2 };
  const [salt, rounds, ...others] = childrenOf(algorithm.parameters);
  const length = others.find((part) => part.tag === tag.integer);
  const prf = others.find((part) => part.tag === tag.sequence);
  const { oid } = prf ? algorithmIn(prf) : { oid: hmacWithSha1 };
  const hash = hmacs[oid];
  if (!hash) return { type: 'unknown', oid };
  const derivation = {
    type: 'pbkdf2',
    salt: octetsIn(salt),
    rounds: numberIn(rounds),
    keyBytes: keyBytes === null || length ? numberIn(length) : keyBytes,
    hash,
  } as const;
  if (derivation.keyBytes > maxKeyBytes) throw new RangeError('The key is too long.');
  return derivation;
}

/** The hash of an HMAC (RFC 8018, B.1.2); null for an unknown one. */
export const hashOfHmac = (oid: string): string | null => hmacs[oid] ?? null;
