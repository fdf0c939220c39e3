import { hash, pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
import type { Derivation } from '@portal/domain/certificates/protection';
import type { Deadline } from './deadline.ts';
import { tooMuch, unsupported } from './not-usable.ts';

/*
 * node-forge writes PFX files and decrypts what the runtime does not. Keys are derived with the runtime's hashes in place of its own, which take
 * twice to thirty times as long. What this changes of the library holds for the whole process: only processes for work apart load this file.
 *
 * Besides, passwords of PBES2 become UTF-8, as everybody else writes them, and nothing is derived in more rounds than `maxRounds`, nor beyond
 * the deadline.
 */

/** Firefox writes 600,000. */
const maxRounds = 1_000_000;
/** Of all keys derived for one upload: a file of Firefox has 2,400,000. */
const maxRoundsInAll = 4_000_000;
/** How many hashes are made between two looks at the clock. */
const lookEvery = 4_096;

type Bytes = forge.util.ByteStringBuffer;
type Asn1 = forge.asn1.Asn1;

interface BlockCiphers {
  createDecryptionCipher: (
    key: string,
    bits?: number,
  ) => {
    start: (iv: string) => void;
    update: (bytes: Bytes) => void;
    finish: () => boolean;
    output: Bytes;
  };
}

/** Parts of the library that its types leave out. */
const library = forge as unknown as {
  pkcs5: { pbkdf2: unknown };
  pbe: { generatePkcs12Key: unknown };
  rc2: BlockCiphers;
  des: BlockCiphers;
};

let deadline: Deadline | null = null;
let spentRounds = 0;

/** The library, which throws once time is up, or once the upload that the deadline is of has had all its rounds. */
export function forgeWithin(given: Deadline): typeof forge {
  if (deadline !== given) spentRounds = 0;
  deadline = given;
  return forge;
}

/** Looks at the rounds before they are begun: each makes a hash for every part of a key that is as long as a hash. */
export function spendRounds(rounds: number, hashesEach = 1): void {
  deadline?.check();
  if (rounds > maxRounds)
    throw unsupported(
      `Its password is protected by ${rounds} rounds; at most ${maxRounds} are supported. Please export it again with fewer.`,
    );
  if (spentRounds + rounds * hashesEach > maxRoundsInAll)
    throw tooMuch('The passwords of these files are protected by too many rounds in all. Please send them one by one.');
  spentRounds += rounds * hashesEach;
}

type Work = Omit<Derivation, 'type'>;
const digestBytes = (name: string): number => hash(name, '', 'buffer').length;

/** PBKDF2 (RFC 8018, 5.2). Throws a NotUsableError where it is too much. */
export function derivePbkdf2Key(password: string, { salt, rounds, keyBytes, hash: name }: Work): Buffer {
  spendRounds(rounds, Math.ceil(keyBytes / digestBytes(name)));
  return pbkdf2Sync(password, salt, rounds, keyBytes, name);
}

/** What a key is derived for (RFC 7292, B.3). */
export const purpose = { key: 1, iv: 2, checksum: 3 };

/**
 * PKCS#12's own way of making a key of a password. RFC 7292, B.2: blocks of the purpose, of the salt and of the password are hashed as often as
 * there are rounds, and what comes out is added to them for the next part of the key. B.1: a password is UTF-16 with two zero bytes behind it;
 * no password at all is no bytes. Throws a NotUsableError where it is too much.
 */
export function derivePkcs12Key(
  password: string | undefined,
  { salt, rounds, keyBytes, hash: name }: Work,
  id: number,
): Buffer {
  const size = digestBytes(name);
  spendRounds(rounds, Math.ceil(keyBytes / size));
  const blockBytes = size > 32 ? 128 : 64;
  const repeated = (bytes: Uint8Array) =>
    Buffer.alloc(Math.ceil(bytes.length / blockBytes) * blockBytes, bytes.length > 0 ? bytes : 0);
  const text = password === undefined ? Buffer.alloc(0) : Buffer.from(`${password}\0`, 'utf16le').swap16();
  const blocks = Buffer.concat([repeated(salt), repeated(text)]);
  const key: Buffer[] = [];
  for (let made = 0; made < keyBytes; made += size) {
    const part = hash(name, Buffer.concat([Buffer.alloc(blockBytes, id), blocks]), 'buffer');
    for (let round = 1; round < rounds; round += 1) {
      if (round % lookEvery === 0) deadline?.check();
      // A string of bytes costs the runtime far less than a buffer.
      part.write(hash(name, part, 'latin1'), 'latin1');
    }
    key.push(part);
    const addend = Buffer.alloc(blockBytes, part);
    for (let at = 0; at < blocks.length; at += blockBytes) addInPlace(blocks.subarray(at, at + blockBytes), addend);
  }
  return Buffer.concat(key).subarray(0, keyBytes);
}

/** `block + addend + 1`, both numbers in as many bytes, without what does not fit. */
function addInPlace(block: Buffer, addend: Buffer): void {
  let carry = 1;
  for (let at = block.length - 1; at >= 0; at -= 1) {
    carry += (block[at] ?? 0) + (addend[at] ?? 0);
    block[at] = carry & 0xff;
    carry >>= 8;
  }
}

interface Digest {
  algorithm: string;
}
library.pkcs5.pbkdf2 = (password: string, salt: string, rounds: number, keyBytes: number, digest: Digest) => {
  const work = { salt: Buffer.from(salt, 'latin1'), rounds, keyBytes, hash: digest.algorithm };
  return binary(derivePbkdf2Key(password, work));
};
library.pbe.generatePkcs12Key = (
  password: string,
  salt: Bytes,
  id: number,
  rounds: number,
  keyBytes: number,
  digest?: Digest,
) => {
  const work = { salt: Buffer.from(salt.bytes(), 'latin1'), rounds, keyBytes, hash: digest?.algorithm ?? 'sha1' };
  return forge.util.createBuffer(binary(derivePkcs12Key(password, work, id)));
};

/** Decrypts what the runtime does not, both with blocks chained; null where what fills up the last block is not right. */
export function decryptRarely(
  name: 'des' | 'rc2',
  key: Uint8Array,
  iv: Uint8Array,
  bytes: Uint8Array,
  bits?: number,
): Buffer | null {
  const cipher = library[name].createDecryptionCipher(binary(key), bits);
  cipher.start(binary(iv));
  cipher.update(forge.util.createBuffer(binary(bytes)));
  return cipher.finish() ? Buffer.from(cipher.output.getBytes(), 'latin1') : null;
}

/** Leaves bit strings as they are; the types know the first of these alone. */
const lenient = { strict: false, parseAllBytes: false, decodeBitStrings: false } as unknown as boolean;

export const binary = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export const fromDer = (der: Uint8Array): Asn1 => forge.asn1.fromDer(binary(der), lenient);
export const toDer = (asn1: Asn1): Buffer => Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'latin1');
