import { hash, pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
import type { Derivation } from '@portal/domain/certificates/protection';
import type { Deadline } from './deadline.ts';
import { tooMuch, unsupported } from './not-usable.ts';

/*
 * node-forge writes PFX files and decrypts ciphers that the runtime does not support. Its key derivation is replaced by one with the
 * runtime's hashes, because its own hashes take 2 to 30 times as long. This patches the library for the whole process, so only sandbox
 * processes load this file.
 *
 * The replacement also encodes PBES2 passwords as UTF-8, like other programs, and limits a derivation to `maxRounds` and to the deadline.
 */

/** Firefox writes 600,000. */
const maxRounds = 1_000_000;
/** Maximum for all keys derived for one upload; a Firefox file has 2,400,000. */
const maxTotalRounds = 4_000_000;
/** Hashes between two checks of the deadline. */
const checkEvery = 4_096;

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

/** Parts of the library that are missing in its types. */
const library = forge as unknown as {
  pkcs5: { pbkdf2: unknown };
  pbe: { generatePkcs12Key: unknown };
  rc2: BlockCiphers;
  des: BlockCiphers;
};

let deadline: Deadline | null = null;
let spentRounds = 0;

/** The library, limited by the deadline and by the total rounds of one upload. A new deadline starts a new upload. */
export function forgeWithin(newDeadline: Deadline): typeof forge {
  if (deadline !== newDeadline) spentRounds = 0;
  deadline = newDeadline;
  return forge;
}

/** Checks the limits before a derivation begins. Each round computes one hash per hash-sized part of the key. */
export function spendRounds(rounds: number, hashesPerRound = 1): void {
  deadline?.check();
  if (rounds > maxRounds)
    throw unsupported(
      `Its password is protected by ${rounds} rounds; at most ${maxRounds} are supported. Please export it again with fewer.`,
    );
  if (spentRounds + rounds * hashesPerRound > maxTotalRounds)
    throw tooMuch('The passwords of these files use too many rounds in total. Please send the files one by one.');
  spentRounds += rounds * hashesPerRound;
}

type KeyParameters = Omit<Derivation, 'type'>;
const digestBytes = (name: string): number => hash(name, '', 'buffer').length;

/** PBKDF2 (RFC 8018, 5.2). Throws a NotUsableError if it exceeds a limit. */
export function derivePbkdf2Key(password: string, { salt, rounds, keyBytes, hash: name }: KeyParameters): Buffer {
  spendRounds(rounds, Math.ceil(keyBytes / digestBytes(name)));
  return pbkdf2Sync(password, salt, rounds, keyBytes, name);
}

/** The purpose of a derived key (RFC 7292, B.3). */
export const purpose = { key: 1, iv: 2, checksum: 3 };

/**
 * The key derivation of PKCS#12. RFC 7292, B.2: blocks of purpose, salt and password are hashed `rounds` times, and the result is added to
 * the blocks for the next part of the key. B.1: a password is UTF-16 followed by two zero bytes; a missing password is no bytes. Throws a
 * NotUsableError if it exceeds a limit.
 */
export function derivePkcs12Key(
  password: string | undefined,
  { salt, rounds, keyBytes, hash: name }: KeyParameters,
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
  for (let length = 0; length < keyBytes; length += size) {
    const part = hash(name, Buffer.concat([Buffer.alloc(blockBytes, id), blocks]), 'buffer');
    for (let round = 1; round < rounds; round += 1) {
      if (round % checkEvery === 0) deadline?.check();
      // A binary string is much faster in the runtime than a buffer.
      part.write(hash(name, part, 'latin1'), 'latin1');
    }
    key.push(part);
    const addend = Buffer.alloc(blockBytes, part);
    for (let at = 0; at < blocks.length; at += blockBytes) addInPlace(blocks.subarray(at, at + blockBytes), addend);
  }
  return Buffer.concat(key).subarray(0, keyBytes);
}

/** `block + addend + 1` for numbers of equal length; overflow is dropped. */
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
  const parameters = { salt: Buffer.from(salt, 'latin1'), rounds, keyBytes, hash: digest.algorithm };
  return binary(derivePbkdf2Key(password, parameters));
};
library.pbe.generatePkcs12Key = (
  password: string,
  salt: Bytes,
  id: number,
  rounds: number,
  keyBytes: number,
  digest?: Digest,
) => {
  const parameters = { salt: Buffer.from(salt.bytes(), 'latin1'), rounds, keyBytes, hash: digest?.algorithm ?? 'sha1' };
  return forge.util.createBuffer(binary(derivePkcs12Key(password, parameters, id)));
};

/** Decrypts CBC ciphers that the runtime does not support; null if the padding is wrong. */
export function decryptWithForge(
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

/** Does not decode bit strings. The types know only the first option. */
const lenient = { strict: false, parseAllBytes: false, decodeBitStrings: false } as unknown as boolean;

export const binary = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export const fromDer = (der: Uint8Array): Asn1 => forge.asn1.fromDer(binary(der), lenient);
export const toDer = (asn1: Asn1): Buffer => Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'latin1');
