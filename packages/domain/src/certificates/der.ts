export interface Header {
  tag: number;
  /** Where its content begins, and where it ends; without an end where only its content tells. */
  start: number;
  end: number | null;
}

/**
 * What an element begins with, its tag and its length (X.690, 8.1.2 and 8.1.3); null where there is none. A length is one byte, or up to four
 * that follow their number; 0x80 says that two zero bytes end the content (8.1.3.6).
 */
export function headerAt(der: Uint8Array, at: number): Header | null {
  const [tag, first] = [der[at], der[at + 1]];
  if (tag === undefined || first === undefined) return null;
  if (first < 0x80) return { tag, start: at + 2, end: at + 2 + first };
  const bytes = first - 0x80;
  if (bytes === 0) return { tag, start: at + 2, end: null };
  if (bytes > 4) return null;
  const start = at + 2 + bytes;
  const length = der.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
  return { tag, start, end: start + length };
}

export interface Element {
  tag: number;
  content: Uint8Array;
  /** Together with what stands before and behind its content. */
  whole: Uint8Array;
}

/** The elements that these bytes are, one behind another. Throws a RangeError when they are something else. */
export function elementsIn(der: Uint8Array): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < der.length;) {
    const header = knownHeader(der, at);
    const end = header.end ?? endOfOpen(der, header.start);
    if (end > der.length) throw new RangeError('An element ends too early.');
    const content = der.subarray(header.start, header.end ?? end - endMark);
    elements.push({ tag: header.tag, content, whole: der.subarray(at, end) });
    at = end;
  }
  return elements;
}

const endMark = 2;

/** Where content without a length ends, its mark included: it may hold more of its kind (X.690, 8.1.5). */
function endOfOpen(der: Uint8Array, start: number): number {
  let at = start;
  for (let open = 1; open > 0;) {
    const { tag, start: next, end } = knownHeader(der, at);
    if (end === null) open += 1;
    else if (tag === 0 && end === next) open -= 1;
    at = end ?? next;
  }
  return at;
}

function knownHeader(der: Uint8Array, at: number): Header {
  const header = headerAt(der, at);
  if (header === null) throw new RangeError('Not an element.');
  return header;
}

const maxOid = 100;

/** An object identifier with dots (X.690, 8.19): groups of seven bits make a number, and the first of them stands for two. Throws a RangeError. */
export function dottedOid(content: Uint8Array): string {
  if (content.length > maxOid) throw new RangeError('An object identifier is too long.');
  const numbers: bigint[] = [];
  let number = 0n;
  for (const byte of content) {
    number = number * 128n + BigInt(byte % 128);
    if (byte >= 128) continue;
    numbers.push(number);
    number = 0n;
  }
  const [first = 0n, ...others] = numbers;
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...others].join('.');
}

/** An element of parts that are encoded already, in DER: its length takes as few bytes as it can (X.690, 10.1). */
export function elementOf(tag: number, ...parts: Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const digits = [24, 16, 8, 0].map((shift) => (size >>> shift) & 0xff);
  const short = digits.slice(digits.findIndex((digit) => digit > 0));
  const length = size < 0x80 ? [size] : [0x80 + short.length, ...short];
  return joined([Uint8Array.of(tag, ...length), ...parts]);
}

function joined(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** What stands in an element; nothing where there is no such element. */
export const within = (element: Element | undefined): Element[] => (element ? elementsIn(element.content) : []);

const octetString = { simple: [0x04, 0x80], ofParts: [0x24, 0xa0] };
const maxParts = 4;

/**
 * The bytes of an OCTET STRING, also of one tagged 0. X.690, 8.7.3: in BER it may be of several others. Throws a RangeError when it is
 * something else.
 */
export function octetsIn(element: Element | undefined, depth = 0): Uint8Array {
  if (element && octetString.simple.includes(element.tag)) return element.content;
  if (!element || !octetString.ofParts.includes(element.tag) || depth > maxParts)
    throw new RangeError('Not an OCTET STRING.');
  return joined(within(element).map((part) => octetsIn(part, depth + 1)));
}

/** An INTEGER that is not negative (X.690, 8.3). Throws a RangeError when it is something else. */
export function numberIn(element: Element | undefined): number {
  if (element?.tag !== 0x02) throw new RangeError('Not an INTEGER.');
  return element.content.reduce((sum, byte) => sum * 256 + byte, 0);
}

/** An object identifier with dots. Throws a RangeError when it is something else. */
export function oidIn(element: Element | undefined): string {
  if (element?.tag !== 0x06) throw new RangeError('Not an OBJECT IDENTIFIER.');
  return dottedOid(element.content);
}
