import { close, createReadStream, fstat, open as openWithCallback, read as readWithCallback } from 'node:fs';
import { constants } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { unavailable } from '@portal/domain/errors';
import type { OpenedFile, PartOf } from './opened-file.ts';

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
    file = { stream: createReadStream(place, { fd, fs: throughout, ...range }), sizeBytes, part };
    return file;
  } finally {
    // A stream closes it itself.
    if (file === null) await closeDescriptor(fd);
  }
}

/** Reads as Node does, but fails where a file ends before the range that is read: it was truncated meanwhile. */
const throughout = {
  close,
  read: ((fd, buffer, offset, length, position, callback) =>
    readWithCallback(fd, buffer, offset, length, position, (error, bytesRead, read) =>
      callback(error ?? (bytesRead === 0 && length > 0 ? truncated() : null), bytesRead, read),
    )) as typeof readWithCallback,
};

const truncated = () => unavailable('This file is incomplete. Please try again later.', new Error('it was truncated'));

const absent: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Whether the error means that no file exists. ELOOP: a link instead of a file; we never create links, so it counts as absent. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && absent.has(error.code);
