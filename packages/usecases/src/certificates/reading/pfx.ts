import type { pkcs12 } from 'node-forge';
import type { Deadline } from './deadline.ts';
import { forgeWithin, fromDer, lenient, toDer } from './forge.ts';
import { damaged, locked, NotUsableError, unsupported } from './not-usable.ts';

export interface PfxContent {
  /** DER of each. */
  certificates: Buffer[];
  /** PKCS#8, in DER. */
  keys: Buffer[];
}

const bag = { lockedKey: '1.2.840.113549.1.12.10.1.2', certificate: '1.2.840.113549.1.12.10.1.3' };

/**
 * What a PFX holds. Files protected by an empty password are opened whichever password is given; there are two ways to write that,
 * and both are tried. Throws a NotUsableError.
 */
export function readPfx(der: Uint8Array, password: string | undefined, deadline: Deadline): PfxContent {
  const tries = password ? [password, '', undefined] : ['', undefined];
  for (const tried of tries) {
    try {
      return contentOf(open(der, tried, deadline));
    } catch (error) {
      // The password itself was not the right one: that is what is told when there is no time, or are no rounds, for the others.
      const isTooMuch = error instanceof NotUsableError && error.reason === 'TOO_LARGE';
      if (tried !== tries[0] && (isTooMuch || deadline.isPast)) throw locked(password, error);
      throwUnlessLocked(error);
    }
  }
  if (opensWithoutCheck(der, tries[0], deadline)) throw damaged('Its checksum (MAC) does not belong to its content.');
  throw locked(password);
}

function open(der: Uint8Array, password: string | undefined, deadline: Deadline, isChecked = true): pkcs12.Pkcs12Pfx {
  const { pkcs12 } = forgeWithin(deadline);
  const pfx = fromDer(der);
  // Of three elements the last is the checksum over the others.
  if (!isChecked && Array.isArray(pfx.value)) pfx.value.length = 2;
  return pkcs12.pkcs12FromAsn1(pfx, lenient, password);
}

/** Whether a password decrypts the content although the checksum under it is wrong. */
function opensWithoutCheck(der: Uint8Array, password: string | undefined, deadline: Deadline): boolean {
  try {
    const { safeContents } = open(der, password, deadline, false);
    return safeContents.some(
      ({ encrypted, safeBags }) => encrypted || safeBags.some(({ type }) => type === bag.lockedKey),
    );
  } catch {
    return false;
  }
}

/** The library tells a wrong password, an unknown algorithm and an unreadable structure apart by its messages alone. */
function throwUnlessLocked(error: unknown): void {
  if (error instanceof NotUsableError) throw error;
  const message = error instanceof Error ? error.message : '';
  if (/unsupported|only .* supported/i.test(message))
    throw unsupported(
      'It is protected in a way that is not supported. Please export it again with AES-256 or 3DES.',
      error,
    );
  if (/^Cannot read PKCS#12|authSafe|iteration count/i.test(message)) throw damaged('This PFX cannot be read.', error);
}

function contentOf({ safeContents }: pkcs12.Pkcs12Pfx): PfxContent {
  const content: PfxContent = { certificates: [], keys: [] };
  for (const { type, asn1 } of safeContents.flatMap(({ safeBags }) => safeBags)) {
    const list = type === bag.certificate ? content.certificates : content.keys;
    list.push(toDer(asn1));
  }
  return content;
}
