/** Where the content of an element lies in its buffer. */
export interface Span {
  start: number;
  end: number;
}

/** Bytes that do not form what they should. */
export class BerError extends Error {}

/**
 * The element at `at` (X.690 section 8.1), of the given tag and ending within `limit`; throws a BerError otherwise.
 * Only the definite form with a length of at most four bytes, as LDAP demands (RFC 4511 section 5.1).
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
  if (end > limit) throw new BerError('an element is longer than what holds it');
  return { start, end };
}

/** A whole number of up to six bytes, as INTEGER and ENUMERATED hold it. */
export function readWhole(bytes: Buffer, { start, end }: Span): number {
  if (end <= start || end - start > 6) throw new BerError('unreadable number');
  return bytes.readIntBE(start, end - start);
}
