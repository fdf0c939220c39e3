import { close, fstat, open as openWithCallback, read } from 'node:fs';
import { constants } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { unavailable } from '@portal/domain/errors';
import { FileStream, type OpenedFile, type Part, type PartOf } from './opened-file.ts';

// Descriptors instead of FileHandles: if a caller drops the stream unread, a garbage-collected FileHandle would end the process.
const openDescriptor = promisify(openWithCallback);
const statDescriptor = promisify(fstat);
const closeDescriptor = promisify(close);

/**
 * Opens a regular file; null if there is none, or if the last path segment is a link, device, pipe or folder. The check and the read use
 * one descriptor, so they see the same file. Throws what `partOf` throws.
 */
export async function openPlainFile(place: string, partOf: PartOf = () => null): Promise<OpenedFile | null> {
  let fd: number;
  try {
    // Follows no link, and does not wait for the writer of a pipe.
    fd = await openDescriptor(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  let file: OpenedFile | null = null;
  try {
    const stats = await statDescriptor(fd);
    if (!stats.isFile()) return null;
    const { size: sizeBytes } = stats;
    const part = partOf(sizeBytes);
    if (part === 'none' || sizeBytes === 0) return { stream: Readable.from([]), sizeBytes, part: null };
    // Excludes bytes that are appended after the size was read.
    const range = part ?? { start: 0, end: sizeBytes - 1 };
    file = { stream: new FileReader(fd, range), sizeBytes, part };
    return file;
  } finally {
    // A stream closes it itself.
    if (file === null) await closeDescriptor(fd);
  }
}

const pieceBytes = 64 * 1024;

/**
 * The bytes of an open file from `start` to `end`, both included. Reads a piece when it is asked for one, and nothing ahead. Fails where the
 * file ends before `end`: it was truncated meanwhile. Closes the file.
 */
export class FileReader extends FileStream {
  readonly #fd: number;
  #at: number;
  readonly #end: number;
  #piece: Buffer | null = null;
  #isReading = false;
  #closeAfterRead: (() => void) | null = null;

  constructor(fd: number, { start, end }: Part) {
    super({ highWaterMark: 0 });
    this.#fd = fd;
    this.#at = start;
    this.#end = end;
  }

  override _read(): void {
    const left = this.#end + 1 - this.#at;
    if (left === 0) {
      this.push(null);
      return;
    }
    const piece = this.#piece && this.isDone?.() ? this.#piece : Buffer.allocUnsafeSlow(Math.min(pieceBytes, left));
    this.#piece = piece;
    this.#isReading = true;
    read(this.#fd, piece, 0, Math.min(piece.length, left), this.#at, (error, bytesRead) => {
      this.#isReading = false;
      if (this.#closeAfterRead) return this.#closeAfterRead();
      if (error || bytesRead === 0) return void this.destroy(error ?? truncated());
      this.#at += bytesRead;
      this.push(piece.subarray(0, bytesRead));
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const end = () => close(this.#fd, (closing) => done(error ?? closing));
    // A descriptor that is closed while it is read may be another file's by then.
    if (this.#isReading) this.#closeAfterRead = end;
    else end();
  }
}

const truncated = () => unavailable('This file is incomplete. Please try again later.', new Error('it was truncated'));

const absent: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Whether the error means that no file exists. ELOOP: a link instead of a file; we never create links, so it counts as absent. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && absent.has(error.code);
