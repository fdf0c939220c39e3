import type { Writable } from 'node:stream';
import { Deserializer, Serializer } from 'node:v8';

/*
 * Messages between processes: structured-clone data. Each Uint8Array is sent separately as raw bytes and arrives as a Buffer. Copying the
 * bytes into or out of one large message would block the event loop of the sender or the receiver.
 *
 * Format: the number of parts, the length of each, then the parts. The first part is everything except the bytes.
 */

// Node documents these; its types leave them out.
declare module 'node:v8' {
  interface Serializer {
    _setTreatArrayBufferViewsAsHostObjects(isHostObject: boolean): void;
    _writeHostObject(object: unknown): void;
  }
  interface Deserializer {
    _readHostObject(): unknown;
  }
}

const maxParts = 10_000;

/** Serializes a value into parts. Throws if it cannot be cloned. */
export function partsOf(value: unknown): Uint8Array[] {
  const serializer = new PartSerializer();
  serializer.writeHeader();
  serializer.writeValue(value);
  return [serializer.releaseBuffer(), ...serializer.parts];
}

export function writeParts(channel: Writable, parts: readonly Uint8Array[]): void {
  const lengths = Buffer.alloc(4 + 4 * parts.length);
  lengths.writeUInt32LE(parts.length);
  for (const [index, { byteLength }] of parts.entries()) lengths.writeUInt32LE(byteLength, 4 + 4 * index);
  channel.cork();
  for (const part of [lengths, ...parts]) channel.write(part);
  channel.uncork();
}

class PartSerializer extends Serializer {
  readonly parts: Uint8Array[] = [];

  constructor() {
    super();
    this._setTreatArrayBufferViewsAsHostObjects(true);
  }

  override _writeHostObject(object: unknown): void {
    if (!(object instanceof Uint8Array))
      throw new TypeError('Only plain data and bytes can be sent to another process.');
    this.writeUint32(this.parts.push(object));
  }
}

class PartDeserializer extends Deserializer {
  readonly #parts: Buffer[];

  constructor([head = Buffer.alloc(0), ...parts]: Buffer[]) {
    super(head);
    this.#parts = parts;
  }

  override _readHostObject(): Buffer {
    const part = this.#parts[this.readUint32() - 1];
    if (!part) throw new TypeError('A message refers to bytes that it does not contain.');
    return part;
  }
}

/** Assembles messages from incoming chunks; copies each byte once. */
export class MessageReader {
  readonly #maxBytes: () => number;
  readonly #onMessage: (message: unknown) => void;
  #lengths: number[] | null = null;
  #parts: Buffer[] = [];
  #part = Buffer.alloc(4);
  #filled = 0;

  /** `push` throws if a message exceeds `maxBytes` or is malformed. */
  constructor(maxBytes: () => number, onMessage: (message: unknown) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      const copied = chunk.copy(this.#part, this.#filled, at);
      this.#filled += copied;
      at += copied;
      while (this.#filled === this.#part.length) this.#next();
    }
  }

  /** Called when the current part is complete. */
  #next(): void {
    if (this.#lengths === null) {
      const count = this.#part.readUInt32LE();
      if (this.#part.length === 4) {
        if (count === 0 || count > maxParts) throw new RangeError('This is not a message.');
        this.#part = Buffer.concat([this.#part, Buffer.alloc(4 * count)]);
        return;
      }
      this.#lengths = Array.from({ length: count }, (_, index) => this.#part.readUInt32LE(4 + 4 * index));
      const bytes = this.#lengths.reduce((sum, length) => sum + length, 0);
      if (bytes > this.#maxBytes()) throw new RangeError('This message is too large.');
    } else {
      this.#parts.push(this.#part);
    }
    const length = this.#lengths[this.#parts.length];
    this.#part = Buffer.allocUnsafeSlow(length ?? 4);
    this.#filled = 0;
    if (length !== undefined) return;
    const parts = this.#parts;
    this.#lengths = null;
    this.#parts = [];
    const deserializer = new PartDeserializer(parts);
    deserializer.readHeader();
    this.#onMessage(deserializer.readValue());
  }
}
