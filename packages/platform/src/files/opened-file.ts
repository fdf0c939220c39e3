import { Readable } from 'node:stream';

/** From the first to the last byte, both included. */
export interface Part {
  start: number;
  end: number;
}

/** Selects what to read of a file of this size: a part, null for all of it, `none` for nothing, when only the size matters. */
export type PartOf = (sizeBytes: number) => Part | 'none' | null;

export interface OpenedFile {
  /** Fails if it cannot yield every byte of the file or the part; it never ends early. */
  stream: Readable;
  /** Of the whole file. */
  sizeBytes: number;
  /** The part in the stream; null for all. */
  part: Part | null;
}

/**
 * A stream that can have the memory of its pieces back. If each piece stays until V8 collects it, V8 collects the whole heap several times a
 * second: with twenty downloads, one of a hundred other calls took 20 ms instead of 6 (`pnpm bench downloads`).
 */
export abstract class FileStream extends Readable {
  protected isDone: (() => boolean) | null = null;

  /** Takes the memory of all pieces read so far whenever `isDone` says that their receiver needs none of them any more. */
  reclaimMemory(isDone: () => boolean): void {
    this.isDone = isDone;
  }
}
