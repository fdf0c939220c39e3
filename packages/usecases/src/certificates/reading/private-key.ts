import { createPrivateKey, getCiphers, type KeyObject } from 'node:crypto';
import { elementsIn } from '@portal/domain/certificates/der';
import { lockedKeyIn } from '@portal/domain/certificates/pfx';
import type { Deadline } from './deadline.ts';
import { forgeWithin } from './forge.ts';
import { locked, unsupported } from './not-usable.ts';
import { unlockKey } from './unlock.ts';

const hint =
  'The way this key is protected is not supported. OpenSSL 3 rewrites it: openssl pkcs8 -topk8 -v2 aes-256-cbc -provider legacy -provider default -in old.key -out new.key';

/** A key that is protected by a password, in PKCS#8. Throws a NotUsableError, and another error when it is damaged. */
export function openKey(der: Uint8Array, password: string | undefined, deadline: Deadline): KeyObject {
  if (!password) throw locked(password);
  forgeWithin(deadline);
  const key = unlockKey(lockedKeyIn(elementsIn(der)[0]), password, hint);
  if (key === null) throw locked(password);
  return createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' });
}

/**
 * A key that is protected by a password in the older way, as a PEM block with headers. RFC 1421, 4.6.1.3: DEK-Info names the cipher. Throws a
 * NotUsableError.
 */
export function openPem(pem: string, password: string | undefined): KeyObject {
  if (!password) throw locked(password);
  const cipher = /^DEK-Info: *([\w-]+)/m.exec(pem)?.[1];
  if (!cipher || !getCiphers().includes(cipher.toLowerCase()))
    throw unsupported(`${hint} (It is protected by ${cipher ?? 'nothing known'}.)`);
  try {
    return createPrivateKey({ key: pem, format: 'pem', passphrase: password });
  } catch (error) {
    throw locked(password, error);
  }
}
