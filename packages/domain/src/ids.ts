import { z } from 'zod';

// Drawn in advance: a request for a few random bytes takes longer than the rest of an id.
const words = new Uint32Array(1_024);
let used = words.length;

function randomWord(): number {
  if (used === words.length) {
    globalThis.crypto.getRandomValues(words);
    used = 0;
  }
  const word = words[used] ?? 0;
  used += 1;
  return word;
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

const counterBits = 26;
let lastMs = 0;
let counter = 0;
/** Time and version, shared by all ids of one millisecond. */
let front = '';

/**
 * UUIDv7 (RFC 9562, 5.7): sorts by time of creation, so a primary key index grows at its end. The ids of one process always ascend: a
 * counter follows the time (6.2, method 1), and the time never goes back, even if the clock does.
 */
export function newId(): string {
  const now = Date.now();
  counter += 1;
  if (now > lastMs || counter >= 2 ** counterBits) {
    lastMs = Math.max(now, lastMs + 1);
    // Starts in the lower half, so that the counter has room to grow.
    counter = randomWord() >>> (33 - counterBits);
    front = `${hex(Math.floor(lastMs / 2 ** 16), 8)}-${hex(lastMs % 2 ** 16, 4)}-7`;
  }
  const high = hex(counter >>> 14, 3);
  const low = hex(0x8000 | (counter & 0x3fff), 4);
  return `${front}${high}-${low}-${hex(randomWord() >>> 16, 4)}${hex(randomWord(), 8)}`;
}

/** A bound below every id created at `at` or later, and above every earlier id: for ranges of rows ordered by id. */
export const idBound = (at: Date): string => {
  const ms = Math.min(Math.max(at.getTime(), 0), 2 ** 48 - 1);
  return `${hex(Math.floor(ms / 2 ** 16), 8)}-${hex(ms % 2 ** 16, 4)}-7000-8000-000000000000`;
};

/** Normalized to lower case, as in the database, so that code may compare ids as text. */
export const Id = z.uuid().toLowerCase();

/** An id that no record has. */
const noId = '00000000-0000-0000-0000-000000000000';

/** An id in a path. Anything other than a UUID becomes `noId` and gets the same 404 as an unknown id. */
export const PathId = Id.catch(noId);
