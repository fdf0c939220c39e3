import { BerError, readElement, type Span } from './ber.ts';

/** Offsets per attribute: start and end of its name, start and end of its values. */
const stride = 4;

/** Requests name a handful of attributes, and a group of half a million members exceeds the message limit. */
const limits = { nameBytes: 64 * 1024, attributes: 5_000, values: 500_000 };

/** Values that `valuePortions` yields at a time. */
const portion = 500;

/** Offsets of the last entry used. If every entry of a page kept its own, the page would take several times its size. */
let lastOffsets: { entry: LdapEntry; offsets: number[] } | null = null;

/**
 * A directory entry: a view of the received bytes, parsed only on access. A page of entries stays in memory until the next one
 * arrives, and objects per attribute would cost the garbage collector more than parsing. For invalid bytes, each access throws
 * the result of `toFailure`.
 */
export class LdapEntry {
  readonly #bytes: Buffer;
  readonly #toFailure: (error: unknown) => unknown;
  #name: Span | null = null;

  /** `content` is that of a SearchResultEntry (RFC 4511 section 4.5.2). */
  constructor(content: Buffer, toFailure: (error: unknown) => unknown = (error) => error) {
    this.#bytes = content;
    this.#toFailure = toFailure;
  }

  get dn(): string {
    const { start, end } = this.#nameSpan();
    return this.#bytes.toString('utf8', start, end);
  }

  /** The raw bytes of the entry, a view of the received buffer. */
  get raw(): Buffer {
    return this.#bytes;
  }

  /** Copies the entry into its own buffer. A view keeps the whole received buffer alive, which may be a thousand times larger. */
  copy(): LdapEntry {
    return new LdapEntry(Buffer.from(this.#bytes), this.#toFailure);
  }

  /** The attribute names in lower case, with their options: `member;range=0-1499`. */
  attributes(): string[] {
    const names: string[] = [];
    const offsets = this.#attributeOffsets();
    for (let index = 0; index < offsets.length; index += stride)
      names.push(this.#bytes.toString('latin1', offsets[index], offsets[index + 1]).toLowerCase());
    return names;
  }

  /** The first `atMost` values as text; empty if the entry lacks the attribute. Attribute names are not case-sensitive. */
  values(attribute: string, atMost = Infinity): string[] {
    const range = this.#find(attribute);
    return range === null ? [] : this.#textsFrom(range, atMost).texts;
  }

  /** All values, a few hundred at a time, because the texts of a large group take several times the bytes received. */
  *valuePortions(attribute: string): Generator<string[]> {
    const range = this.#find(attribute);
    if (range === null) return;
    for (let count = 0, at = range.start; at < range.end;) {
      const { texts, end } = this.#textsFrom({ start: at, end: range.end }, portion, count);
      yield texts;
      count += texts.length;
      at = end;
    }
  }

  #textsFrom(range: Span, atMost: number, before = 0): { texts: string[]; end: number } {
    return this.#parse(() => {
      const texts: string[] = [];
      let at = range.start;
      while (at < range.end && texts.length < atMost) {
        const { start, end } = readElement(this.#bytes, at, 0x04, range.end);
        if (before + texts.length === limits.values) throw new BerError('more values than any directory has');
        texts.push(this.#bytes.toString('utf8', start, end));
        at = end;
      }
      return { texts, end: at };
    });
  }

  /** The raw first value, a view of the received buffer. Copy it before storing it. */
  firstBytes(attribute: string): Buffer | undefined {
    const range = this.#find(attribute);
    if (range === null || range.start === range.end) return undefined;
    const { start, end } = this.#parse(() => readElement(this.#bytes, range.start, 0x04, range.end));
    return this.#bytes.subarray(start, end);
  }

  #nameSpan(): Span {
    this.#name ??= this.#parse(() => {
      const name = readElement(this.#bytes, 0, 0x04);
      if (name.end - name.start > limits.nameBytes) throw new BerError('a longer name than any entry has');
      return name;
    });
    return this.#name;
  }

  #attributeOffsets(): number[] {
    if (lastOffsets?.entry === this) return lastOffsets.offsets;
    const found = this.#parse(() => {
      const offsets: number[] = [];
      const list = readElement(this.#bytes, this.#nameSpan().end, 0x30);
      for (let at = list.start; at < list.end;) {
        const attribute = readElement(this.#bytes, at, 0x30, list.end);
        const type = readElement(this.#bytes, attribute.start, 0x04, attribute.end);
        const values = readElement(this.#bytes, type.end, 0x31, attribute.end);
        if (offsets.length === stride * limits.attributes) throw new BerError('more attributes than any entry has');
        offsets.push(type.start, type.end, values.start, values.end);
        at = attribute.end;
      }
      return offsets;
    });
    lastOffsets = { entry: this, offsets: found };
    return found;
  }

  #parse<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      throw this.#toFailure(error);
    }
  }

  #find(attribute: string): Span | null {
    const offsets = this.#attributeOffsets();
    for (let index = 0; index < offsets.length; index += stride) {
      const start = offsets[index] as number;
      const isNamed = (offsets[index + 1] as number) - start === attribute.length && this.#isNamed(start, attribute);
      if (isNamed) return { start: offsets[index + 2] as number, end: offsets[index + 3] as number };
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

/** Lower-cases an ASCII code. Attribute names are ASCII (RFC 4512 section 1.4). */
const lower = (code: number): number => (code >= 0x41 && code <= 0x5a ? code + 0x20 : code);
