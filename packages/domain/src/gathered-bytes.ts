const nothing = new Uint8Array();
const firstBytes = 4 * 1024;

/**
 * Collects foreign bytes that arrive in pieces into one growing buffer. Stored separately, a million pieces of one byte would take a
 * hundred times the memory.
 */
export class GatheredBytes {
  #bytes: Uint8Array = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Allocated memory, bytes. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Appends a piece. `expected` is the total size, if known. A single piece is not copied. */
  add(piece: Uint8Array, expected = Infinity): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) {
      this.#bytes = piece;
    } else {
      if (length > this.#bytes.length)
        this.#grow(Math.max(length, Math.min(Math.max(2 * length, firstBytes), expected)));
      this.#bytes.set(piece, this.#length);
    }
    this.#length = length;
  }

  /** Returns all bytes and empties the collection. */
  take(): Uint8Array {
    const all = this.#bytes.subarray(0, this.#length);
    this.#bytes = nothing;
    this.#length = 0;
    return all;
  }

  #grow(capacity: number): void {
    const larger = new Uint8Array(capacity);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
