import { createHmac } from 'node:crypto';
import { bagsIn, type Bag, type Checksum, pfxIn, type Safe, safesIn } from '@portal/domain/certificates/pfx';
import type { Deadline } from './deadline.ts';
import { derivePbkdf2Key, derivePkcs12Key, forgeWithin, purpose } from './forge.ts';
import { asNotUsable, damaged, locked, NotUsableError, unsupported } from './not-usable.ts';
import { unlock, unlockKey } from './unlock.ts';

export interface PfxContent {
  /** DER of each. */
  certificates: Uint8Array[];
  /** PKCS#8, in DER. */
  keys: Uint8Array[];
  /** Why some of what it holds cannot be used. */
  faults: NotUsableError[];
  /** What it holds that is of no use here. */
  passedOver: string[];
}

const hint = 'It is protected in a way that is not supported. Please export it again with AES-256 or 3DES.';

/**
 * What a PFX holds. Files protected by an empty password are opened whichever password is given; there are two ways to write that,
 * and both are tried. Throws a NotUsableError, and a RangeError when the bytes are no PFX.
 */
export function readPfx(der: Uint8Array, password: string | undefined, deadline: Deadline): PfxContent {
  forgeWithin(deadline);
  const pfx = pfxIn(der);
  if (pfx === null) throw unsupported('It is protected by a public key in place of a password.');
  const { content, checksum } = pfx;
  const safes = safesIn(content);
  let shut: Opening | null = null;
  const tries = password ? [password, '', undefined] : ['', undefined];
  for (const tried of tries) {
    try {
      if (checksum && !isRight(checksum, content, tried)) continue;
      const opening = new Opening(safes, tried, locked(password));
      if (checksum || !opening.isShut) return opening.content;
      shut ??= opening;
    } catch (error) {
      // The password itself was not the right one: that is what is told when there is no time, or are no rounds, for the others.
      if (tried !== tries[0] && (isTooMuch(error) || deadline.isPast)) throw locked(password, error);
      throw error;
    }
  }
  if (checksum && opensAnything(safes, tries[0])) throw damaged('Its checksum (MAC) does not belong to its content.');
  if (shut === null) throw locked(password);
  // What is open in a file without a checksum is read although the rest is shut.
  return shut.content;
}

function isRight(checksum: Checksum, content: Uint8Array, password: string | undefined): boolean {
  if (checksum.type === 'unknown') throw unsupported(`${hint} (Its checksum is made by ${checksum.oid}.)`);
  const { hash, digest } = checksum;
  return createHmac(hash, keyOf(checksum, password)).update(content).digest().equals(digest);
}

function keyOf(checksum: Exclude<Checksum, { type: 'unknown' }>, password: string | undefined): Buffer {
  if (checksum.type === 'pbmac1') return derivePbkdf2Key(password ?? '', checksum.derivation);
  const { hash, salt, rounds, keyBytes } = checksum;
  return derivePkcs12Key(password, { hash, salt, rounds, keyBytes }, purpose.checksum);
}

/** Whether a password decrypts some of the content although the checksum under it is wrong. */
function opensAnything(safes: Safe[], password: string | undefined): boolean {
  try {
    return new Opening(safes, password, locked(password)).hasOpened;
  } catch {
    return false;
  }
}

const isTooMuch = (error: unknown): boolean => error instanceof NotUsableError && error.reason === 'TOO_LARGE';

/** What a password opens of a PFX. What cannot be read does not hide the rest. */
class Opening {
  readonly content: PfxContent = { certificates: [], keys: [], faults: [], passedOver: [] };
  hasOpened = false;
  readonly #password: string | undefined;
  readonly #shut: NotUsableError;

  /** `shut` is the fault of what the password does not open. */
  constructor(safes: Safe[], password: string | undefined, shut: NotUsableError) {
    this.#password = password;
    this.#shut = shut;
    for (const safe of safes) this.#tolerate(() => this.#readSafe(safe));
  }

  /** Whether there was something to open and nothing was. */
  get isShut(): boolean {
    return !this.hasOpened && this.content.faults.includes(this.#shut);
  }

  #readSafe(safe: Safe): void {
    switch (safe.type) {
      case 'open':
        return this.#readBags(bagsIn(safe.bytes));
      case 'locked':
        return this.#readBags(this.#unlocked(bagsIfAny(unlock(safe.locked, this.#password, hint))));
      case 'other':
        return this.#passOver('what is locked under a public key');
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
        return this.#passOver(bag.what);
      case 'damaged':
        throw damaged('A part of it cannot be read.');
    }
  }

  #passOver(what: string): void {
    if (!this.content.passedOver.includes(what)) this.content.passedOver.push(what);
  }

  #unlocked<Content>(content: Content | null): Content {
    if (content === null) throw this.#shut;
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

/** Bags; null for bytes that are none: one wrong password in 256 fills up the last block as the right one does. */
function bagsIfAny(bytes: Uint8Array | null): Bag[] | null {
  try {
    return bytes && bagsIn(bytes);
  } catch {
    return null;
  }
}
