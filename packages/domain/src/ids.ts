import { z } from 'zod';

// Drawn in advance: asking for a few bytes at a time takes longer than all the rest of an id.
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
/** The time and the version, as the ids of one millisecond share them. */
let front = '';

/**
 * UUIDv7 (RFC 9562, 5.7): sorts by time of creation, so a primary key index grows at its end. Those of one process always ascend: a
 * counter stands behind the time (6.2, method 1), and a clock that is put back is not followed.
 */
export function newId(): string {
  const now = Date.now();
  counter += 1;
  if (now > lastMs || counter >= 2 ** counterBits) {
    lastMs = Math.max(now, lastMs + 1);
    // The upper half stays free to be counted through.
    counter = randomWord() >>> (33 - counterBits);
    front = `${hex(Math.floor(lastMs / 2 ** 16), 8)}-${hex(lastMs % 2 ** 16, 4)}-7`;
  }
  const high = hex(counter >>> 14, 3);
  const low = hex(0x8000 | (counter & 0x3fff), 4);
  return `${front}${high}-${low}-${hex(randomWord() >>> 16, 4)}${hex(randomWord(), 8)}`;
}

/** Below every id made at a time or later, and above those made before: for ranges of what is ordered by its ids. */
export const idBound = (at: Date): string => {
  const ms = Math.min(Math.max(at.getTime(), 0), 2 ** 48 - 1);
  return `${hex(Math.floor(ms / 2 ** 16), 8)}-${hex(ms % 2 ** 16, 4)}-7000-8000-000000000000`;
};

/** In lower-case, as the database writes it, however a client did: code may compare ids as text. */
export const Id = z.uuid().toLowerCase();

/** The id no record has. */
const noId = '00000000-0000-0000-0000-000000000000';

/** An id in a path: anything that is no UUID reads as the id of nothing, and so meets the same 404 as an unknown one. */
export const PathId = Id.catch(noId);
