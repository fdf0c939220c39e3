import { close, createReadStream, fstat, open as openWithCallback, type ReadStream } from 'node:fs';
import { constants } from 'node:fs/promises';
import { promisify } from 'node:util';

/** From the first to the last byte, both included. */
export interface Part {
  start: number;
  end: number;
}

/** Which part of a file of this size is read; null for all of it. What it throws comes out of opening. */
export type PartOf = (sizeBytes: number) => Part | null;

export interface OpenedFile {
  stream: ReadStream;
  /** Of the whole file. */
  sizeBytes: number;
  /** What the stream holds of it; null for all. */
  part: Part | null;
}

// Numbers rather than FileHandles: one of those, dropped unread by whoever got the stream, would end the process.
const openDescriptor = promisify(openWithCallback);
const statDescriptor = promisify(fstat);
const closeDescriptor = promisify(close);

/**
 * Opens a file that is nothing else: no link in its last part, no device, no pipe, no folder; null for these and for one that is not
 * there. What was checked is what is read, because one descriptor serves from the check to the last byte.
 */
export async function openPlainFile(place: string, partOf: PartOf = () => null): Promise<OpenedFile | null> {
  let fd: number;
  try {
    // Neither a link nor a pipe that would wait for its writer.
    fd = await openDescriptor(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    const stats = await statDescriptor(fd);
    if (stats.isFile()) {
      const part = partOf(stats.size);
      // What somebody adds to it from now on is no part of what was measured.
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

/** Whether there is nothing at a place. ELOOP: a link where a file was expected; it is none of ours, so it is not there. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && absent.has(error.code);
