import { createPrivateKey, hash, pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
import type { Deadline } from './deadline.ts';
import { tooMuch, unsupported } from './not-usable.ts';

/*
 * node-forge for PFX files, with the runtime's hashes in place of its own, which take twice to thirty times as long. What this changes of
 * the library holds for the whole process: only processes for work apart load this file.
 *
 * Besides, passwords of PBES2 become UTF-8, as everybody else writes them; certificates and keys are left as they were encoded, because
 * the library knows RSA alone; and nothing is derived in more rounds than `maxRounds`, nor beyond the deadline.
 */

/** Firefox writes 600,000. */
const maxRounds = 1_000_000;
/** Of all keys derived for one upload: two files of Firefox have some 1,800,000 each. */
const maxRoundsInAll = 4_000_000;
/** How many hashes are made between two looks at the clock. */
const lookEvery = 4_096;

type Bytes = forge.util.ByteStringBuffer;
type Asn1 = forge.asn1.Asn1;

interface Digest {
  algorithm: string;
  digestLength: number;
}
type DeriveKey = (password: string, salt: Bytes, id: number, rounds: number, length: number, digest?: unknown) => Bytes;

/** Parts of the library that its types leave out. */
const library = forge as unknown as {
  md: Record<string, { create: () => unknown }>;
  pkcs5: { pbkdf2: unknown };
  pbe: { generatePkcs12Key: DeriveKey };
  pkcs12: { generateKey: DeriveKey };
  pki: {
    certificateFromAsn1: unknown;
    privateKeyFromAsn1: unknown;
    decryptPrivateKeyInfo: (lockedKey: Asn1, password: string | undefined) => Asn1 | null;
  };
};

let deadline: Deadline | null = null;
let spentRounds = 0;
let hashes = 0;

/** The library, which throws once time is up, or once the upload that the deadline is of has had all its rounds. */
export function forgeWithin(given: Deadline): typeof forge {
  if (deadline !== given) spentRounds = 0;
  deadline = given;
  return forge;
}

class NativeDigest implements Digest {
  readonly algorithm: string;
  readonly blockLength: number;
  readonly digestLength: number;
  #text = '';

  constructor(algorithm: string, blockLength: number, digestLength: number) {
    this.algorithm = algorithm;
    this.blockLength = blockLength;
    this.digestLength = digestLength;
  }
  start(): this {
    this.#text = '';
    return this;
  }
  update(bytes: string): this {
    this.#text += bytes;
    return this;
  }
  digest(): Bytes {
    hashes += 1;
    if (hashes % lookEvery === 0) deadline?.check();
    return new forge.util.ByteStringBuffer(hash(this.algorithm, Buffer.from(this.#text, 'latin1'), 'latin1'));
  }
}

for (const [name, blockLength, digestLength] of [
  ['md5', 64, 16],
  ['sha1', 64, 20],
  ['sha256', 64, 32],
  ['sha384', 128, 48],
  ['sha512', 128, 64],
] as const) {
  const digest = library.md[name];
  if (digest) digest.create = () => new NativeDigest(name, blockLength, digestLength);
}

/** Looks at the rounds before they are begun: each makes a hash for every part of a key that is as long as a hash. */
function spendRounds(rounds: number, hashesEach = 1): void {
  deadline?.check();
  if (rounds > maxRounds)
    throw unsupported(
      `Its password is protected by ${rounds} rounds; at most ${maxRounds} are supported. Please export it again with fewer.`,
    );
  if (spentRounds + rounds * hashesEach > maxRoundsInAll)
    throw tooMuch('The passwords of these files are protected by too many rounds in all. Please send them one by one.');
  spentRounds += rounds * hashesEach;
}

library.pkcs5.pbkdf2 = (password: string, salt: string, rounds: number, length: number, digest: Digest) => {
  spendRounds(rounds, Math.ceil(length / digest.digestLength));
  const key = pbkdf2Sync(password, Buffer.from(salt, 'latin1'), rounds, length, digest.algorithm);
  return key.toString('latin1');
};

const { generatePkcs12Key } = library.pbe;
const deriveKey: DeriveKey = (password, salt, id, rounds, length, digest) => {
  spendRounds(rounds);
  return generatePkcs12Key(password, salt, id, rounds, length, digest);
};
library.pbe.generatePkcs12Key = deriveKey;
library.pkcs12.generateKey = deriveKey;

// The runtime derives keys many times faster and opens nearly all of them; it cannot be stopped, so the rounds are looked at before.
const { decryptPrivateKeyInfo } = library.pki;
library.pki.decryptPrivateKeyInfo = (lockedKey, password) => {
  const rounds = roundsOf(lockedKey);
  if (rounds !== null && password) {
    spendRounds(rounds);
    try {
      const encoding = { format: 'der', type: 'pkcs8' } as const;
      const key = createPrivateKey({ key: toDer(lockedKey), ...encoding, passphrase: password });
      return fromDer(key.export(encoding));
    } catch {
      // a wrong password, or an algorithm that the library alone knows: it finds out
    }
  }
  return decryptPrivateKeyInfo(lockedKey, password);
};

/** How many rounds a locked key asks for, in PKCS#12's own way or by PBKDF2; null for other ways. */
function roundsOf(lockedKey: Asn1): number | null {
  const { derToInteger, derToOid, Type } = forge.asn1;
  const list = (part: Asn1 | undefined): Asn1[] => (Array.isArray(part?.value) ? part.value : []);
  const simple = (part: Asn1 | undefined, type: forge.asn1.Type): string =>
    part?.type === type && typeof part.value === 'string' ? part.value : '';
  const [first, second] = list(list(list(lockedKey)[0])[1]);
  const [kind, parameters] = list(first);
  const isPbkdf2 = derToOid(simple(kind, Type.OID)) === forge.pki.oids['pkcs5PBKDF2'];
  const rounds = simple(isPbkdf2 ? list(parameters)[1] : second, Type.INTEGER);
  // What needs more than four bytes is left to the library, which refuses it.
  return rounds === '' || rounds.length > 4 ? null : derToInteger(rounds);
}

// A bag then keeps what it holds as it was written.
const leaveAsItIs = () => {
  throw new Error('left as it is');
};
library.pki.certificateFromAsn1 = leaveAsItIs;
library.pki.privateKeyFromAsn1 = leaveAsItIs;

/** Accepts what PFX files are really written in (BER), and leaves bit strings as they are; the types know the first of these alone. */
export const lenient = { strict: false, parseAllBytes: false, decodeBitStrings: false } as unknown as boolean;

export const binary = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export const fromDer = (der: Uint8Array): Asn1 => forge.asn1.fromDer(binary(der), lenient);
export const toDer = (asn1: Asn1): Buffer => Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'latin1');
