import { type Element, numberIn, octetsIn, oidIn, within } from './der.ts';

/** AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL } (RFC 5280, 4.1.1.2). */
export interface Algorithm {
  oid: string;
  parameters: Element | undefined;
}

/** What makes a key of a password by PBKDF2, where the password is UTF-8 (RFC 8018, 5.2). */
export interface Derivation {
  type: 'pbkdf2';
  salt: Uint8Array;
  rounds: number;
  keyBytes: number;
  hash: string;
}

/** A cipher with blocks chained, by its name in OpenSSL. */
export interface Cipher {
  name: string;
  keyBytes: number;
  /** How many bits of its key count, where it is RC2. */
  bits?: number;
}

/** An algorithm that is not in the tables here. */
export interface Unknown {
  type: 'unknown';
  oid: string;
}

/** How bytes are locked under a password. */
export type Protection =
  | { type: 'pbes2'; derivation: Derivation; cipher: Cipher; iv: Uint8Array }
  | { type: 'pkcs12'; salt: Uint8Array; rounds: number; cipher: Cipher }
  | Unknown;

const tag = { integer: 0x02, sequence: 0x30 };
const pbes2 = '1.2.840.113549.1.5.13';
const pbkdf2 = '1.2.840.113549.1.5.12';
const rc2 = '1.2.840.113549.3.2';
const hmacWithSha1 = '1.2.840.113549.2.7';
/** Far more than any cipher or HMAC uses. */
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
const rc2Bits = { byVersion: { 160: 40, 120: 64, 58: 128 } as Record<number, number>, unsaid: 32, most: 1_024 };
const hmacs: Record<string, string> = {
  [hmacWithSha1]: 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
  '1.2.840.113549.2.12': 'sha512-224',
  '1.2.840.113549.2.13': 'sha512-256',
};

/** Throws a RangeError when the element is something else. */
export function algorithmIn(element: Element | undefined): Algorithm {
  const [oid, parameters] = within(element);
  return { oid: oidIn(oid), parameters };
}

/**
 * How something is locked. RFC 8018, A.4: PBES2 is SEQUENCE { keyDerivationFunc, encryptionScheme }, and the parameters of a scheme are its first
 * block (B.2), or for RC2 hold it. RFC 7292, C: PKCS#12's own ways are SEQUENCE { salt, iterations }; those with RC4 are not in the table.
 * Throws a RangeError when it cannot be read.
 */
export function protectionIn({ oid, parameters }: Algorithm): Protection {
  if (oid === pbes2) {
    const [derivedBy, scheme] = within(parameters).map(algorithmIn);
    const cipher = scheme?.oid === rc2 ? rc2In(scheme) : ciphers[scheme?.oid ?? ''];
    if (!scheme || !cipher) return { type: 'unknown', oid: scheme?.oid ?? oid };
    const derivation = derivationIn(derivedBy, cipher.keyBytes);
    const iv = octetsIn(scheme.oid === rc2 ? within(scheme.parameters).at(-1) : scheme.parameters);
    return derivation.type === 'unknown' ? derivation : { type: 'pbes2', derivation, cipher, iv };
  }
  const cipher = pkcs12Ciphers[oid];
  if (!cipher) return { type: 'unknown', oid };
  const [salt, rounds] = within(parameters);
  return { type: 'pkcs12', salt: octetsIn(salt), rounds: numberIn(rounds), cipher };
}

/** RFC 8018, B.2.3: SEQUENCE { rc2ParameterVersion INTEGER OPTIONAL, iv OCTET STRING }; the version stands for how many bits count. */
function rc2In({ parameters }: Algorithm): Cipher {
  const [version, iv] = within(parameters);
  const number = iv ? numberIn(version) : null;
  const bits = number === null ? rc2Bits.unsaid : (rc2Bits.byVersion[number] ?? number);
  if (bits > rc2Bits.most) throw new RangeError('More bits than RC2 has.');
  return { name: 'rc2', keyBytes: Math.ceil(bits / 8), bits };
}

/**
 * PBKDF2. RFC 8018, A.2: SEQUENCE { salt, iterationCount INTEGER, keyLength INTEGER OPTIONAL, prf DEFAULT hmacWithSHA1 }. A key has `keyBytes` where
 * it does not say how many; where that is null, it has to say. Throws a RangeError when it cannot be read.
 */
export function derivationIn(algorithm: Algorithm | undefined, keyBytes: number | null): Derivation | Unknown {
  if (algorithm?.oid !== pbkdf2) return { type: 'unknown', oid: algorithm?.oid ?? pbkdf2 };
  const [salt, rounds, ...others] = within(algorithm.parameters);
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
  if (derivation.keyBytes > maxKeyBytes) throw new RangeError('A key of too many bytes.');
  return derivation;
}

/** The hash of an HMAC (RFC 8018, B.1.2); null for an unknown one. */
export const hashOfHmac = (oid: string): string | null => hmacs[oid] ?? null;
