import { createDecipheriv, createPrivateKey } from 'node:crypto';
import type { Locked, LockedKey } from '@portal/domain/certificates/pfx';
import { type Cipher, protectionIn } from '@portal/domain/certificates/protection';
import { derKindsOf } from './der-kind.ts';
import { decryptRarely, derivePbkdf2Key, derivePkcs12Key, purpose, spendRounds } from './forge.ts';
import { unsupported } from './not-usable.ts';

/** Of a block of RC2 and of 3DES. */
const ivBytes = 8;

/**
 * What is locked under a password; null when this one does not open it. `hint` helps where the way it is locked is not supported. Throws a
 * NotUsableError, and a RangeError when what says how it is locked cannot be read.
 */
export function unlock({ algorithm, bytes }: Locked, password: string | undefined, hint: string): Buffer | null {
  const protection = protectionIn(algorithm);
  switch (protection.type) {
    case 'unknown':
      throw unsupported(`${hint} (It is protected by ${protection.oid}.)`);
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
 * A key, in PKCS#8, that is locked under a password; null when this one does not open it. The runtime opens keys, and nothing else, far faster than
 * PKCS#12's own derivation runs here. Throws as `unlock` does.
 */
export function unlockKey(locked: LockedKey, password: string | undefined, hint: string): Uint8Array | null {
  const protection = protectionIn(locked.algorithm);
  if (password && protection.type === 'pkcs12' && protection.cipher.name !== 'rc2') {
    spendRounds(protection.rounds);
    try {
      const encoding = { format: 'der', type: 'pkcs8' } as const;
      return createPrivateKey({ key: Buffer.from(locked.whole), ...encoding, passphrase: password }).export(encoding);
    } catch {
      // by another password, or damaged: that shows below
    }
  }
  const key = unlock(locked, password, hint);
  // One wrong password in 256 fills up the last block as the right one does.
  return key && derKindsOf(key).includes('pkcs8') ? key : null;
}

function decrypt(cipher: Cipher, key: Uint8Array, iv: Uint8Array, bytes: Uint8Array): Buffer | null {
  if (cipher.name === 'des' || cipher.name === 'rc2') return decryptRarely(cipher.name, key, iv, bytes, cipher.bits);
  const decipher = createDecipheriv(cipher.name, key, iv);
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch {
    // what fills up the last block tells that the key is another
    return null;
  }
}
