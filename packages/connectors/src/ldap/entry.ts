import { elements, readElement } from './ber.ts';

/** An object of the directory. Values are read from the received bytes when asked for, so what nobody asks for costs little. */
export class LdapEntry {
  readonly dn: string;
  readonly #bytes: Buffer;
  // Where the values of an attribute lie, by its lower-case name
  readonly #values: Map<string, { start: number; end: number }>;

  /** From the content of a SearchResultEntry (RFC 4511 section 4.5.2). Throws for bytes that are none. */
  constructor(content: Buffer) {
    const name = readElement(content, 0, 0x04);
    this.dn = content.toString('utf8', name.start, name.end);
    this.#bytes = content;
    this.#values = new Map();
    const list = readElement(content, name.end, 0x30);
    for (let at = list.start; at < list.end;) {
      const attribute = readElement(content, at, 0x30, list.end);
      const type = readElement(content, attribute.start, 0x04, attribute.end);
      const values = readElement(content, type.end, 0x31, attribute.end);
      this.#values.set(content.toString('latin1', type.start, type.end).toLowerCase(), values);
      at = attribute.end;
    }
  }

  /** Names as the server spells them, in lower case, options included: `member;range=0-1499`. */
  attributes(): string[] {
    return [...this.#values.keys()];
  }

  /** The values as text; none when the entry has no such attribute. Names are compared without regard to case. */
  values(attribute: string): string[] {
    return this.bytes(attribute).map((value) => value.toString('utf8'));
  }

  /** The values as sent. They are views of what came off the wire: copy one that is to be kept. */
  bytes(attribute: string): Buffer[] {
    const range = this.#values.get(attribute.toLowerCase());
    return range === undefined ? [] : elements(this.#bytes, range, 0x04);
  }
}
