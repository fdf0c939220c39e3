export interface Header {
  tag: number;
  /** Start and end of the content; `end` is null for an indefinite length. */
  start: number;
  end: number | null;
}

/**
 * The tag and length of an element (X.690, 8.1.2 and 8.1.3); null if there is no valid header. A length is one byte, or a byte count
 * followed by up to four bytes; 0x80 means that two zero bytes end the content (8.1.3.6).
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
  /** Header, content and end mark. */
  whole: Uint8Array;
}

/** Parses consecutive elements. Throws a RangeError if the bytes are not elements. */
export function elementsIn(der: Uint8Array): Element[] {
  const elements: Element[] = [];
  for (let at = 0; at < der.length;) {
    const header = requiredHeader(der, at);
    const end = header.end ?? endOfIndefinite(der, header.start);
    if (end > der.length) throw new RangeError('An element ends too early.');
    const content = der.subarray(header.start, header.end ?? end - endMark);
    elements.push({ tag: header.tag, content, whole: der.subarray(at, end) });
    at = end;
  }
  return elements;
}

const endMark = 2;

/** The end of content with an indefinite length, including its end mark. Such content can be nested (X.690, 8.1.5). */
function endOfIndefinite(der: Uint8Array, start: number): number {
  let at = start;
  for (let depth = 1; depth > 0;) {
    const { tag, start: next, end } = requiredHeader(der, at);
    if (end === null) depth += 1;
    else if (tag === 0 && end === next) depth -= 1;
    at = end ?? next;
  }
  return at;
}

function requiredHeader(der: Uint8Array, at: number): Header {
  const header = headerAt(der, at);
  if (header === null) throw new RangeError('Not an element.');
  return header;
}

const maxOidBytes = 100;

/** An object identifier in dotted form (X.690, 8.19): groups of seven bits form a number; the first encodes two. Throws a RangeError. */
export function dottedOid(content: Uint8Array): string {
  if (content.length > maxOidBytes) throw new RangeError('An object identifier is too long.');
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

/** A DER element with encoded parts as its content. The length uses the minimum of bytes (X.690, 10.1). */
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

/** The elements in an element; empty if it is undefined. */
export const childrenOf = (element: Element | undefined): Element[] => (element ? elementsIn(element.content) : []);

const octetString = { primitive: [0x04, 0x80], constructed: [0x24, 0xa0] };
const maxDepth = 4;

/**
 * The bytes of an OCTET STRING, also with the tag [0]. X.690, 8.7.3: in BER it can be composed of several others. Throws a RangeError for
 * another element.
 */
export function octetsIn(element: Element | undefined, depth = 0): Uint8Array {
  if (element && octetString.primitive.includes(element.tag)) return element.content;
  if (!element || !octetString.constructed.includes(element.tag) || depth > maxDepth)
    throw new RangeError('Not an OCTET STRING.');
  return joined(childrenOf(element).map((part) => octetsIn(part, depth + 1)));
}

/** A non-negative INTEGER (X.690, 8.3). Throws a RangeError for another element. */
export function numberIn(element: Element | undefined): number {
  if (element?.tag !== 0x02) throw new RangeError('Not an INTEGER.');
  return element.content.reduce((sum, byte) => sum * 256 + byte, 0);
}

/** An object identifier in dotted form. Throws a RangeError for another element. */
export function oidIn(element: Element | undefined): string {
  if (element?.tag !== 0x06) throw new RangeError('Not an OBJECT IDENTIFIER.');
  return dottedOid(element.content);
}
