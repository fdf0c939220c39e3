/** The position of an element's content in its buffer. */
export interface Span {
  start: number;
  end: number;
}

/** The bytes are not valid BER. */
export class BerError extends Error {}

/**
 * Reads the element at `at` (X.690 section 8.1). Throws a BerError unless it has the given tag and ends within `limit`.
 * Accepts only the definite form (RFC 4511 section 5.1) with a length of at most four bytes.
 */
export function readElement(bytes: Buffer, at: number, tag: number, limit = bytes.length): Span {
  if (at + 2 > limit || bytes[at] !== tag) throw new BerError(`no element ${tag.toString(16)} at byte ${at}`);
  const first = bytes[at + 1] as number;
  let start = at + 2;
  let length = first;
  if (first > 0x7f) {
    const lengthBytes = first & 0x7f;
    if (lengthBytes === 0 || lengthBytes > 4 || start + lengthBytes > limit) throw new BerError('unreadable length');
    length = bytes.readUIntBE(start, lengthBytes);
    start += lengthBytes;
  }
  const end = start + length;
  if (end > limit) throw new BerError('an element exceeds its container');
  return { start, end };
}

/** Reads an INTEGER or ENUMERATED of up to six bytes. */
export function readWhole(bytes: Buffer, { start, end }: Span): number {
  if (end <= start || end - start > 6) throw new BerError('unreadable number');
  return bytes.readIntBE(start, end - start);
}
