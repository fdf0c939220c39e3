import { createHmac } from 'node:crypto';
import { bagsIn, type Bag, type Checksum, pfxIn, type Safe, safesIn } from '@portal/domain/certificates/pfx';
import type { Deadline } from './deadline.ts';
import { derivePbkdf2Key, derivePkcs12Key, forgeWithin, purpose } from './forge.ts';
import { asNotUsable, damaged, locked, NotUsableError, unsupported } from './not-usable.ts';
import { unlock, unlockKey } from './unlock.ts';

export interface PfxContent {
  /** Each in DER. */
  certificates: Uint8Array[];
  /** Each as PKCS#8 in DER. */
  keys: Uint8Array[];
  /** Why parts of it cannot be used. */
  faults: NotUsableError[];
  /** Readable content that is not needed. */
  ignored: string[];
}

const hint = 'Its encryption is not supported. Please export it again with AES-256 or 3DES.';

/**
 * Reads a PFX. Files with an empty password open with any given password; an empty password has two encodings, and both are tried.
 * Throws a NotUsableError, and a RangeError if the bytes are not a PFX.
 *
 * node-forge does not read the file: it refuses a whole file for one unknown bag, distinguishes a wrong password from an unknown cipher
 * only by the text of its errors, and takes four seconds for a file of Firefox, which takes one here.
 */
export function readPfx(der: Uint8Array, password: string | undefined, deadline: Deadline): PfxContent {
  forgeWithin(deadline);
  const pfx = pfxIn(der);
  if (pfx === null) throw unsupported('It is protected by a public key instead of a password.');
  const { content, checksum } = pfx;
  const safes = safesIn(content);
  let firstLocked: Opening | null = null;
  const candidates = password ? [password, '', undefined] : ['', undefined];
  for (const candidate of candidates) {
    try {
      if (checksum && !isCorrect(checksum, content, candidate)) continue;
      const opening = new Opening(safes, candidate, locked(password));
      if (checksum || !opening.isLocked) return opening.content;
      firstLocked ??= opening;
    } catch (error) {
      // The given password was wrong. Report that if the limits do not allow trying the empty passwords.
      if (candidate !== candidates[0] && (isTooMuch(error) || deadline.isPast)) throw locked(password, error);
      throw error;
    }
  }
  if (checksum && opensAnything(safes, candidates[0])) throw damaged('Its checksum (MAC) does not match its content.');
  if (firstLocked === null) throw locked(password);
  // In a file without a checksum, the unencrypted parts are read even if the others stay locked.
  return firstLocked.content;
}

function isCorrect(checksum: Checksum, content: Uint8Array, password: string | undefined): boolean {
  if (checksum.type === 'unknown') throw unsupported(`${hint} (Checksum algorithm: ${checksum.oid}.)`);
  const { hash, digest } = checksum;
  return createHmac(hash, keyOf(checksum, password)).update(content).digest().equals(digest);
}

function keyOf(checksum: Exclude<Checksum, { type: 'unknown' }>, password: string | undefined): Buffer {
  if (checksum.type === 'pbmac1') return derivePbkdf2Key(password ?? '', checksum.derivation);
  const { hash, salt, rounds, keyBytes } = checksum;
  return derivePkcs12Key(password, { hash, salt, rounds, keyBytes }, purpose.checksum);
}

/** Whether a password decrypts some of the content although its checksum is wrong. */
function opensAnything(safes: Safe[], password: string | undefined): boolean {
  try {
    return new Opening(safes, password, locked(password)).hasOpened;
  } catch {
    return false;
  }
}

const isTooMuch = (error: unknown): boolean => error instanceof NotUsableError && error.reason === 'TOO_LARGE';

/** The content of a PFX that a password opens. Unreadable parts do not hide the others. */
class Opening {
  readonly content: PfxContent = { certificates: [], keys: [], faults: [], ignored: [] };
  hasOpened = false;
  readonly #password: string | undefined;
  readonly #lockedFault: NotUsableError;

  /** `lockedFault` is the fault for parts that the password does not open. */
  constructor(safes: Safe[], password: string | undefined, lockedFault: NotUsableError) {
    this.#password = password;
    this.#lockedFault = lockedFault;
    for (const safe of safes) this.#tolerate(() => this.#readSafe(safe));
  }

  /** Whether there are locked parts and the password opens none of them. */
  get isLocked(): boolean {
    return !this.hasOpened && this.content.faults.includes(this.#lockedFault);
  }

  #readSafe(safe: Safe): void {
    switch (safe.type) {
      case 'open':
        return this.#readBags(bagsIn(safe.bytes));
      case 'locked':
        return this.#readBags(this.#unlocked(bagsIfAny(unlock(safe.locked, this.#password, hint))));
      case 'other':
        return this.#ignore('content encrypted with a public key');
      case 'damaged':
        throw damaged('A part of it cannot be read.');
    }
  }

  #readBags(bags: Bag[]): void {
    for (const bag of bags) this.#tolerate(() => this.#readBag(bag));
  }

  #readBag(bag: Bag): void {
    const { certificates, keys } = this.content;
    switch (bag.type) {
      case 'certificate':
        return void certificates.push(bag.der);
      case 'key':
        return void keys.push(bag.der);
      case 'locked-key':
        return void keys.push(this.#unlocked(unlockKey(bag.locked, this.#password, hint)));
      case 'other':
        return this.#ignore(bag.what);
      case 'damaged':
        throw damaged('A part of it cannot be read.');
    }
  }

  #ignore(what: string): void {
    if (!this.content.ignored.includes(what)) this.content.ignored.push(what);
  }

  #unlocked<Content>(content: Content | null): Content {
    if (content === null) throw this.#lockedFault;
    this.hasOpened = true;
    return content;
  }

  /** Keeps one fault of each reason. */
  #tolerate(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (isTooMuch(error)) throw error;
      const { faults } = this.content;
      const fault = asNotUsable(error);
      if (!faults.some(({ reason }) => reason === fault.reason)) faults.push(fault);
    }
  }
}

/** The bags; null for other bytes, because one wrong password in 256 produces valid padding. */
function bagsIfAny(bytes: Uint8Array | null): Bag[] | null {
  try {
    return bytes && bagsIn(bytes);
  } catch {
    return null;
  }
}
