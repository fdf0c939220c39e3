// An import would read each export of this module, and some of them load all that `fetch` stands on.
const { IncomingMessage } = process.getBuiltinModule('node:http');

/** A body waits in pieces of at least this size, however it was cut up. */
const pieceBytes = 16 * 1024;

/**
 * A request whose body waits in few pieces. Node keeps every chunk as an object of its own until somebody reads it, so that
 * 64 KiB sent byte by byte weigh 20 MB while a session is looked up. Here chunks are copied together until there is a reader.
 */
export class PackedMessage extends IncomingMessage {
  #piece: Buffer | null = null;
  #length = 0;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#handOn();
      return super.push(null);
    }
    const length = this.#length + chunk.length;
    if (this.#piece === null) {
      this.#piece = chunk;
      // What comes in one read of the socket comes in one tick.
      process.nextTick(handOnToReader, this);
    } else {
      if (length > this.#piece.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#piece.length, 256));
        this.#piece.copy(larger, 0, 0, this.#length);
        this.#piece = larger;
      }
      chunk.copy(this.#piece, this.#length);
    }
    this.#length = length;
    return length < pieceBytes || this.#handOn();
  }

  override read(size?: number): unknown {
    // Zero asks for more to come, not for what is there.
    if (size !== 0) this.#handOn();
    return super.read(size);
  }

  /** Passes on what has come when its reader waits for it. */
  handOnToReader(): void {
    if (this.readableLength === 0) this.#handOn();
  }

  #handOn(): boolean {
    const piece = this.#piece;
    if (piece === null) return true;
    this.#piece = null;
    const length = this.#length;
    this.#length = 0;
    return super.push(length === piece.length ? piece : piece.subarray(0, length));
  }
}

const handOnToReader = (message: PackedMessage): void => message.handOnToReader();
