import { close, createReadStream, fstat, open as openWithCallback, type ReadStream } from 'node:fs';
import { constants } from 'node:fs/promises';
import { promisify } from 'node:util';

/** From the first to the last byte, both included. */
export interface Part {
  start: number;
  end: number;
}

/** Selects the part of a file of this size to read; null for all of it. `openPlainFile` throws its errors. */
export type PartOf = (sizeBytes: number) => Part | null;

export interface OpenedFile {
  stream: ReadStream;
  /** Of the whole file. */
  sizeBytes: number;
  /** The part in the stream; null for all. */
  part: Part | null;
}

// Descriptors instead of FileHandles: if a caller drops the stream unread, a garbage-collected FileHandle would end the process.
const openDescriptor = promisify(openWithCallback);
const statDescriptor = promisify(fstat);
const closeDescriptor = promisify(close);

/**
 * Opens a regular file; null if there is none, or if the last path segment is a link, device, pipe or folder. The check and the read use
 * one descriptor, so they see the same file.
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
  try {
    const stats = await statDescriptor(fd);
    if (stats.isFile()) {
      const part = partOf(stats.size);
      // Excludes bytes that are appended after the size was read.
      const whole = stats.size === 0 ? null : { start: 0, end: stats.size - 1 };
      return { stream: createReadStream(place, { fd, ...(part ?? whole) }), sizeBytes: stats.size, part };
    }
  } catch (error) {
    await closeDescriptor(fd);
    throw error;
  }
  await closeDescriptor(fd);
  return null;
}

const absent: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Whether the error means that no file exists. ELOOP: a link instead of a file; we never create links, so it counts as absent. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && absent.has(error.code);
