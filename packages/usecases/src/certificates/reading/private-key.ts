import { createPrivateKey, getCiphers, type KeyObject } from 'node:crypto';
import { elementsIn } from '@portal/domain/certificates/der';
import { lockedKeyIn } from '@portal/domain/certificates/pfx';
import type { Deadline } from './deadline.ts';
import { forgeWithin } from './forge.ts';
import { locked, unsupported } from './not-usable.ts';
import { unlockKey } from './unlock.ts';

const hint =
  'The encryption of this key is not supported. To convert it with OpenSSL 3, run: openssl pkcs8 -topk8 -v2 aes-256-cbc -provider legacy -provider default -in old.key -out new.key';

/** Opens a password-protected key in PKCS#8. Throws a NotUsableError, and another error if the key is damaged. */
export function openKey(der: Uint8Array, password: string | undefined, deadline: Deadline): KeyObject {
  if (!password) throw locked(password);
  forgeWithin(deadline);
  const key = unlockKey(lockedKeyIn(elementsIn(der)[0]), password, hint);
  if (key === null) throw locked(password);
  return createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' });
}

/**
 * Opens a key with the older password protection, a PEM block with headers. RFC 1421, 4.6.1.3: DEK-Info names the cipher. Throws a
 * NotUsableError.
 */
export function openPem(pem: string, password: string | undefined): KeyObject {
  if (!password) throw locked(password);
  const cipher = /^DEK-Info: *([\w-]+)/m.exec(pem)?.[1];
  if (!cipher || !getCiphers().includes(cipher.toLowerCase()))
    throw unsupported(`${hint} (Algorithm: ${cipher ?? 'unknown'}.)`);
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase: password });
  } catch (error) {
    throw locked(password, error);
  }
}
