import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Deadline } from './deadline.ts';
import { forgeWithin, fromDer, toDer } from './forge.ts';
import { locked, NotUsableError, unsupported } from './not-usable.ts';

/** A key that is protected by a password, in PKCS#8. Throws a NotUsableError. */
export function unlockKey(der: Uint8Array, password: string | undefined, deadline: Deadline): KeyObject {
  if (!password) throw locked(password);
  try {
    const { pki } = forgeWithin(deadline);
    const opened = pki.decryptPrivateKeyInfo(fromDer(der), password) as ReturnType<typeof fromDer> | null;
    if (opened === null) throw new Error('not decrypted');
    return createPrivateKey({ key: toDer(opened), format: 'der', type: 'pkcs8' });
  } catch (error) {
    if (error instanceof NotUsableError) throw error;
    if (error instanceof Error && /unsupported/i.test(error.message) && !('code' in error))
      throw unsupported(
        'The way this key is protected is not supported. This rewrites it: openssl pkcs8 -topk8 -v2 aes-256-cbc -in old.key -out new.key',
        error,
      );
    throw locked(password, error);
  }
}

/** A key that is protected by a password in the older way, as a PEM block with headers. Throws a NotUsableError. */
export function unlockPem(pem: string, password: string | undefined): KeyObject {
  if (!password) throw locked(password);
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase: password });
  } catch (error) {
    throw locked(password, error);
  }
}
