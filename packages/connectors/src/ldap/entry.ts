import { elements, readElement, type Span } from './ber.ts';

/** Numbers kept for each attribute: where its name begins and ends, and where its values do. */
const stride = 4;

/**
 * An object of the directory. It is a view of the received bytes with a list of places in them: a page of entries stays alive until
 * the next one is here, and objects for each attribute would cost the collector more than reading them costs us.
 */
export class LdapEntry {
  readonly dn: string;
  readonly #bytes: Buffer;
  readonly #places: number[] = [];

  /** From the content of a SearchResultEntry (RFC 4511 section 4.5.2). Throws for bytes that are none. */
  constructor(content: Buffer) {
    const name = readElement(content, 0, 0x04);
    this.dn = content.toString('utf8', name.start, name.end);
    this.#bytes = content;
    const list = readElement(content, name.end, 0x30);
    for (let at = list.start; at < list.end;) {
      const attribute = readElement(content, at, 0x30, list.end);
      const type = readElement(content, attribute.start, 0x04, attribute.end);
      const values = readElement(content, type.end, 0x31, attribute.end);
      this.#places.push(type.start, type.end, values.start, values.end);
      at = attribute.end;
    }
  }

  /** Names as the server spells them, in lower case, options included: `member;range=0-1499`. */
  attributes(): string[] {
    const names: string[] = [];
    for (let place = 0; place < this.#places.length; place += stride)
      names.push(this.#bytes.toString('latin1', this.#places[place], this.#places[place + 1]).toLowerCase());
    return names;
  }

  /** The values as text; none when the entry has no such attribute. Names are compared without regard to case. */
  values(attribute: string): string[] {
    const range = this.#find(attribute);
    if (range === null) return [];
    const found: string[] = [];
    for (let at = range.start; at < range.end;) {
      const { start, end } = readElement(this.#bytes, at, 0x04, range.end);
      found.push(this.#bytes.toString('utf8', start, end));
      at = end;
    }
    return found;
  }

  /** The values as sent. They are views of what came off the wire: copy one that is to be kept. */
  bytes(attribute: string): Buffer[] {
    const range = this.#find(attribute);
    return range === null ? [] : elements(this.#bytes, range, 0x04);
  }

  #find(attribute: string): Span | null {
    const places = this.#places;
    for (let place = 0; place < places.length; place += stride) {
      const start = places[place] as number;
      const isNamed = (places[place + 1] as number) - start === attribute.length && this.#isNamed(start, attribute);
      if (isNamed) return { start: places[place + 2] as number, end: places[place + 3] as number };
    }
    return null;
  }

  #isNamed(start: number, attribute: string): boolean {
    for (let at = 0; at < attribute.length; at += 1) {
      if (lower(this.#bytes[start + at] as number) !== lower(attribute.charCodeAt(at))) return false;
    }
    return true;
  }
}

/** Of ASCII, which names of attributes are written in (RFC 4512 section 1.4). */
const lower = (code: number): number => (code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
