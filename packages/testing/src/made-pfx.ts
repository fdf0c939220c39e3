import { createCipheriv, createHmac, pbkdf2Sync } from 'node:crypto';
import { element, integer, octets, oid, sequence, set, tagged } from './der.ts';

const data = oid('1.2.840.113549.1.7.1');
const pbkdf2 = oid('1.2.840.113549.1.5.12');
const hmacWithSha256 = sequence(oid('1.2.840.113549.2.9'), element(0x05));
const salt = Buffer.from('saltsalt');
const rounds = 2_048;

export const bag = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0, value));
export const certificateBag = (der: Buffer): Buffer =>
  bag('1.2.840.113549.1.12.10.1.3', sequence(oid('1.2.840.113549.1.9.22.1'), tagged(0, octets(der))));
export const keyBag = (pkcs8: Buffer): Buffer => bag('1.2.840.113549.1.12.10.1.1', pkcs8);
export const lockedKeyBag = (algorithm: Buffer, bytes: Buffer): Buffer =>
  bag('1.2.840.113549.1.12.10.1.2', sequence(algorithm, octets(bytes)));
/** A bag with a placeholder for a list of revoked certificates. */
export const listBag = (): Buffer =>
  bag('1.2.840.113549.1.12.10.1.4', sequence(oid('1.2.840.113549.1.9.23.1'), tagged(0, octets(sequence()))));

/** An encryption: its algorithm identifier in the file, and its function. */
export interface Lock {
  algorithm: Buffer;
  lock: (bytes: Buffer) => Buffer;
}

const derivation = (keyBytes?: number): Buffer =>
  sequence(
    pbkdf2,
    sequence(octets(salt), integer(rounds), ...(keyBytes === undefined ? [] : [integer(keyBytes)]), hmacWithSha256),
  );
const secretOf = (password: string, bytes: number): Buffer => pbkdf2Sync(password, salt, rounds, bytes, 'sha256');

/** PBES2 with a given encryption scheme. */
export const pbes2 = (
  password: string,
  scheme: { algorithm: Buffer; keyBytes: number; encrypt: (key: Buffer, bytes: Buffer) => Buffer },
): Lock => ({
  algorithm: sequence(oid('1.2.840.113549.1.5.13'), sequence(derivation(scheme.keyBytes), scheme.algorithm)),
  lock: (bytes) => scheme.encrypt(secretOf(password, scheme.keyBytes), bytes),
});

export function aes256(password: string): Lock {
  const iv = Buffer.alloc(16, 7);
  return pbes2(password, {
    algorithm: sequence(oid('2.16.840.1.101.3.4.1.42'), octets(iv)),
    keyBytes: 32,
    encrypt: (key, bytes) => {
      const cipher = createCipheriv('aes-256-cbc', key, iv);
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    },
  });
}

/** A part of a PFX, plain or encrypted. */
export function safe(bags: Buffer[], lock?: Lock): Buffer {
  const content = sequence(...bags);
  if (!lock) return sequence(data, tagged(0, octets(content)));
  const locked = sequence(data, lock.algorithm, element(0x80, lock.lock(content)));
  return sequence(oid('1.2.840.113549.1.7.6'), tagged(0, sequence(integer(0), locked)));
}

/** Computes the MAC of the content. */
export type Seal = (content: Buffer) => Buffer;

/** RFC 9579. */
export const pbmac1 =
  (password: string): Seal =>
  (content) => {
    const digest = createHmac('sha256', secretOf(password, 32)).update(content).digest();
    const algorithm = sequence(oid('1.2.840.113549.1.5.14'), sequence(derivation(32), hmacWithSha256));
    return sequence(sequence(algorithm, octets(digest)), octets(salt), integer(1));
  };

/** A PFX of parts that `safe` returned. */
export function makePfx(safes: Buffer[], seal?: Seal): Buffer {
  const content = sequence(...safes);
  const sealed = seal ? [seal(content)] : [];
  return sequence(integer(3), sequence(data, tagged(0, octets(content))), ...sealed);
}

/** An empty part that only the owner of a private key can decrypt. */
export const envelope = (): Buffer => sequence(oid('1.2.840.113549.1.7.3'), tagged(0, sequence(integer(0), set())));
