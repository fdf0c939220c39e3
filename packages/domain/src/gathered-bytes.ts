const nothing = new Uint8Array();
const firstBytes = 4 * 1024;

/**
 * Bytes of others that come in pieces, in memory that grows with what has come: kept as they are, a million pieces of a byte each would
 * take a hundred times as much.
 */
export class GatheredBytes {
  #bytes: Uint8Array = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What they take in memory. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Takes another piece; all of them will be `expected` bytes, as far as that is known. One piece alone stays where it is. */
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

  /** All that has come, which is then forgotten. */
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
