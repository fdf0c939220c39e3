import { BerError, readElement, type Span } from './ber.ts';

/** Numbers kept for each attribute: where its name begins and ends, and where its values do. */
const stride = 4;

/** An entry is asked for a handful of attributes, and a group of half a million members is too long for a message. */
const most = { nameBytes: 64 * 1024, attributes: 5_000, values: 500_000 };

/** Values that are read in one turn of those who take turns. */
const portion = 500;

/** Of the entry that was asked last: a page whose entries all kept theirs would be several times as large as it was sent. */
let lastPlaces: { entry: LdapEntry; places: number[] } | null = null;

/**
 * An object of the directory. It is a view of the received bytes, taken apart when somebody first asks what is in it: a page of
 * entries stays alive until the next one is here, and objects for each attribute would cost the collector more than reading them
 * costs us. Asking throws what `faultOf` makes of bytes that are no entry.
 */
export class LdapEntry {
  readonly #bytes: Buffer;
  readonly #faultOf: (error: unknown) => unknown;
  #name: Span | null = null;

  /** From the content of a SearchResultEntry (RFC 4511 section 4.5.2). */
  constructor(content: Buffer, faultOf: (error: unknown) => unknown = (error) => error) {
    this.#bytes = content;
    this.#faultOf = faultOf;
  }

  get dn(): string {
    const { start, end } = this.#nameSpan();
    return this.#bytes.toString('utf8', start, end);
  }

  /** All of it as it was sent, by which it can be recognized. A view of what came off the wire. */
  get raw(): Buffer {
    return this.#bytes;
  }

  /** The same entry in memory of its own: a view keeps all that came with it, which may be a thousand times as much. */
  copy(): LdapEntry {
    return new LdapEntry(Buffer.from(this.#bytes), this.#faultOf);
  }

  /** Names as the server spells them, in lower case, options included: `member;range=0-1499`. */
  attributes(): string[] {
    const names: string[] = [];
    const places = this.#placesOfAttributes();
    for (let place = 0; place < places.length; place += stride)
      names.push(this.#bytes.toString('latin1', places[place], places[place + 1]).toLowerCase());
    return names;
  }

  /** The values as text, the first so many; none when the entry has no such attribute. Names are compared without regard to case. */
  values(attribute: string, atMost = Infinity): string[] {
    const range = this.#find(attribute);
    return range === null ? [] : this.#textsFrom(range, atMost).texts;
  }

  /** All values, a few hundred at a time: as texts, those of a large group take several times what was sent. */
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
    return this.#understand(() => {
      const texts: string[] = [];
      let at = range.start;
      while (at < range.end && texts.length < atMost) {
        const { start, end } = readElement(this.#bytes, at, 0x04, range.end);
        if (before + texts.length === most.values) throw new BerError('more values than any directory has');
        texts.push(this.#bytes.toString('utf8', start, end));
        at = end;
      }
      return { texts, end: at };
    });
  }

  /** The first value as sent. It is a view of what came off the wire: copy one that is to be kept. */
  firstBytes(attribute: string): Buffer | undefined {
    const range = this.#find(attribute);
    if (range === null || range.start === range.end) return undefined;
    const { start, end } = this.#understand(() => readElement(this.#bytes, range.start, 0x04, range.end));
    return this.#bytes.subarray(start, end);
  }

  #nameSpan(): Span {
    this.#name ??= this.#understand(() => {
      const name = readElement(this.#bytes, 0, 0x04);
      if (name.end - name.start > most.nameBytes) throw new BerError('a longer name than any entry has');
      return name;
    });
    return this.#name;
  }

  #placesOfAttributes(): number[] {
    if (lastPlaces?.entry === this) return lastPlaces.places;
    const found = this.#understand(() => {
      const places: number[] = [];
      const list = readElement(this.#bytes, this.#nameSpan().end, 0x30);
      for (let at = list.start; at < list.end;) {
        const attribute = readElement(this.#bytes, at, 0x30, list.end);
        const type = readElement(this.#bytes, attribute.start, 0x04, attribute.end);
        const values = readElement(this.#bytes, type.end, 0x31, attribute.end);
        if (places.length === stride * most.attributes) throw new BerError('more attributes than any entry has');
        places.push(type.start, type.end, values.start, values.end);
        at = attribute.end;
      }
      return places;
    });
    lastPlaces = { entry: this, places: found };
    return found;
  }

  #understand<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  #find(attribute: string): Span | null {
    const places = this.#placesOfAttributes();
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
