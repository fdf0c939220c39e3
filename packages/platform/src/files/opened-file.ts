import type { Readable } from 'node:stream';

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
