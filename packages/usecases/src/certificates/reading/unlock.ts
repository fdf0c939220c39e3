import { createDecipheriv, createPrivateKey } from 'node:crypto';
import type { Locked, LockedKey } from '@portal/domain/certificates/pfx';
import { type Cipher, protectionIn } from '@portal/domain/certificates/protection';
import { derKindsOf } from './der-kind.ts';
import { decryptWithForge, derivePbkdf2Key, derivePkcs12Key, purpose, spendRounds } from './forge.ts';
import { unsupported } from './not-usable.ts';

/** The block size of RC2 and 3DES. */
const ivBytes = 8;

/**
 * Decrypts data with a password; null if the password is wrong. `hint` is the message for an unsupported algorithm. Throws a
 * NotUsableError, and a RangeError if the algorithm parameters cannot be read.
 */
export function unlock({ algorithm, bytes }: Locked, password: string | undefined, hint: string): Buffer | null {
  const protection = protectionIn(algorithm);
  switch (protection.type) {
    case 'unknown':
      throw unsupported(`${hint} (Algorithm: ${protection.oid}.)`);
    case 'pbes2':
      return decrypt(protection.cipher, derivePbkdf2Key(password ?? '', protection.derivation), protection.iv, bytes);
    case 'pkcs12': {
      const { cipher, salt, rounds } = protection;
      const derive = (id: number, keyBytes: number) =>
        derivePkcs12Key(password, { salt, rounds, keyBytes, hash: 'sha1' }, id);
      return decrypt(cipher, derive(purpose.key, cipher.keyBytes), derive(purpose.iv, ivBytes), bytes);
    }
  }
}

/**
 * Decrypts a key with a password and returns it in PKCS#8; null if the password is wrong. For keys, but nothing else, the runtime can do
 * the PKCS#12 derivation itself, which is far faster than the one here. Throws like `unlock`.
 */
export function unlockKey(locked: LockedKey, password: string | undefined, hint: string): Uint8Array | null {
  const protection = protectionIn(locked.algorithm);
  if (password && protection.type === 'pkcs12' && protection.cipher.name !== 'rc2') {
    spendRounds(protection.rounds);
    try {
      const encoding = { format: 'der', type: 'pkcs8' } as const;
      return createPrivateKey({ key: Buffer.from(locked.whole), ...encoding, passphrase: password }).export(encoding);
    } catch {
      // The password is wrong or the key is damaged; the code below distinguishes the two.
    }
  }
  const key = unlock(locked, password, hint);
  // One wrong password in 256 produces valid padding.
  return key && derKindsOf(key).includes('pkcs8') ? key : null;
}

function decrypt(cipher: Cipher, key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Buffer | null {
  if (cipher.name === 'des' || cipher.name === 'rc2') return decryptWithForge(cipher.name, key, iv, bytes, cipher.bits);
  const decipher = createDecipheriv(cipher.name, key, iv);
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch {
    // Wrong padding means that the key is wrong.
    return null;
  }
}
