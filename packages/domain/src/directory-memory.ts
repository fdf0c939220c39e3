import { hash } from 'node:crypto';

/** By what an entry is recognized, as a text of a character per byte: the same for the same bytes. */
export const fingerprintOf = (entry: Uint8Array): string => hash('sha256', entry, 'latin1');

/** A person of a directory as a synchronization left it. */
export interface RememberedPerson {
  /** Null for one who is to be looked at again whatever the entry says, because the account differs from it. */
  fingerprint: string | null;
  directoryId: string;
  /** Whether the person could have an account. */
  isLive: boolean;
  /** Whether the include list let the person in. */
  isAdmitted: boolean;
  /** Whether the same entry switches the account off one day. */
  mayExpire: boolean;
  /** Positions in the list of groups, ascending and joined by commas. */
  groups: string;
}

/** People as they are stored: the bytes have a place of the same length for each, and the texts a line. */
export interface StoredPeople extends PeopleTexts {
  entries: Buffer;
}

/** What is asked for only when something has changed. */
export interface PeopleTexts {
  directoryIds: string;
  groups: string;
}

/** As much of a fingerprint as is kept; nobody meets two entries of the same 128 bits. */
const fingerprintBytes = 16;
/** A place: the fingerprint, and what is said about the person. */
const stride = fingerprintBytes + 1;
const flag = { isKnown: 1, isLive: 2, isAdmitted: 4, mayExpire: 8 } as const;

/** Whoever was there in the last reading, to be found by what the entry said then. */
export class RememberedPeople {
  readonly #entries: Buffer;
  /** Places by their fingerprints, in open addressing: the place plus one, or 0. */
  readonly #slots: Int32Array;
  #directoryIds: string[] = [];
  #groups: string[] = [];
  #placeById = new Map<string, number>();

  constructor(entries: Buffer) {
    this.#entries = entries;
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * this.count + 1)));
    for (let place = 0; place < this.count; place += 1) {
      if (!this.#has(place, flag.isKnown)) continue;
      let slot = this.#slotOf(entries.readUInt32LE(place * stride));
      while (this.#slots[slot] !== 0) slot = this.#after(slot);
      this.#slots[slot] = place + 1;
    }
  }

  /** Adds the texts; whatever asks for a directory id or for groups comes after. */
  add({ directoryIds, groups }: PeopleTexts): void {
    this.#directoryIds = linesOf(directoryIds, this.count);
    this.#groups = linesOf(groups, this.count);
    this.#placeById = new Map(this.#directoryIds.map((id, place) => [id, place]));
  }

  get count(): number {
    return this.#entries.length / stride;
  }

  /** The place of the person whose entry said the same, or -1. */
  find(fingerprint: string): number {
    for (let slot = this.#slotOf(firstNumber(fingerprint)); ; slot = this.#after(slot)) {
      const place = (this.#slots[slot] ?? 0) - 1;
      if (place < 0 || this.#isAt(place, fingerprint)) return place;
    }
  }

  isKnown(place: number): boolean {
    return this.#has(place, flag.isKnown);
  }

  isLive(place: number): boolean {
    return this.#has(place, flag.isLive);
  }

  isAdmitted(place: number): boolean {
    return this.#has(place, flag.isAdmitted);
  }

  mayExpire(place: number): boolean {
    return this.#has(place, flag.mayExpire);
  }

  directoryId(place: number): string {
    return this.#directoryIds[place] ?? '';
  }

  groups(place: number): string {
    return this.#groups[place] ?? '';
  }

  placeOf(directoryId: string): number | undefined {
    return this.#placeById.get(directoryId);
  }

  person(place: number): RememberedPerson {
    const start = place * stride;
    return {
      fingerprint: this.isKnown(place) ? this.#entries.toString('latin1', start, start + fingerprintBytes) : null,
      directoryId: this.directoryId(place),
      isLive: this.isLive(place),
      isAdmitted: this.isAdmitted(place),
      mayExpire: this.mayExpire(place),
      groups: this.groups(place),
    };
  }

  #has(place: number, what: number): boolean {
    return ((this.#entries[place * stride + fingerprintBytes] ?? 0) & what) !== 0;
  }

  #isAt(place: number, fingerprint: string): boolean {
    const start = place * stride;
    for (let at = 0; at < fingerprintBytes; at += 1) {
      if (this.#entries[start + at] !== fingerprint.charCodeAt(at)) return false;
    }
    return true;
  }

  #slotOf(first: number): number {
    return first & (this.#slots.length - 1);
  }

  #after(slot: number): number {
    return (slot + 1) & (this.#slots.length - 1);
  }
}

/** The first four bytes as the number they are in memory. */
const firstNumber = (fingerprint: string): number =>
  fingerprint.charCodeAt(0) |
  (fingerprint.charCodeAt(1) << 8) |
  (fingerprint.charCodeAt(2) << 16) |
  (fingerprint.charCodeAt(3) << 24);

function linesOf(text: string, count: number): string[] {
  const lines = count === 0 ? [] : text.split('\n');
  if (lines.length !== count) throw new Error(`${lines.length} lines for ${count} people`);
  return lines;
}

export function storePeople(people: RememberedPerson[]): StoredPeople {
  const entries = Buffer.alloc(people.length * stride);
  for (const [place, { fingerprint, isLive, isAdmitted, mayExpire }] of people.entries()) {
    const start = place * stride;
    if (fingerprint !== null) entries.write(fingerprint, start, fingerprintBytes, 'latin1');
    entries[start + fingerprintBytes] =
      (fingerprint === null ? 0 : flag.isKnown) |
      (isLive ? flag.isLive : 0) |
      (isAdmitted ? flag.isAdmitted : 0) |
      (mayExpire ? flag.mayExpire : 0);
  }
  return {
    entries,
    directoryIds: people.map(({ directoryId }) => directoryId).join('\n'),
    groups: people.map(({ groups }) => groups).join('\n'),
  };
}

/** Turns positions in one list of groups into those in another; null for people of a group that is not in it any more. */
export function groupTranslation(from: string[], to: string[]): (groups: string) => string | null {
  if (from.length === to.length && from.every((id, position) => id === to[position])) return (groups) => groups;
  const positions = new Map(to.map((id, position) => [id, position]));
  // Most people share their groups with others.
  const translated = new Map<string, string | null>();
  const translate = (groups: string): string | null => {
    const found = groups === '' ? [] : groups.split(',').map((position) => positions.get(from[Number(position)] ?? ''));
    if (!found.every((position) => position !== undefined)) return null;
    return found.toSorted((a, b) => a - b).join(',');
  };
  return (groups) => {
    const known = translated.get(groups);
    if (known !== undefined) return known;
    const result = translate(groups);
    translated.set(groups, result);
    return result;
  };
}
