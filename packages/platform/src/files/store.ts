import { HOUR } from '@portal/domain/time';
import type { OpenedFile, PartOf } from './opened-file.ts';
import type { FileContent, WriteLimits } from './write-then-rename.ts';

export interface StoredFile {
  /** Relative to the store; rows hold this path. */
  path: string;
  sizeBytes: number;
}

/**
 * Files by the paths that rows name: `<folder>/<last two digits of the id>/<id>.<extension>`.
 * Callers with a row write the file, commit the row, then remove the previous row's file. A failure in between leaves a file without a
 * row, which the sweep removes, but never a row without its file.
 * Throws 503 `UNAVAILABLE` while the disk or the object store refuses or does not answer.
 */
export interface FileStore {
  /**
   * Stores `content` completely or not at all; resolves once it would survive a power cut.
   * Use a new `id` for each content: the content of a path never changes.
   * Throws 413 `PAYLOAD_TOO_LARGE` above `maxBytes` without reading on. Closes a stream in any case.
   */
  write(folder: string, id: string, extension: string, content: FileContent, limits: WriteLimits): Promise<StoredFile>;
  /**
   * The content of a stored path; null if there is no such file or `write` never returns such a path. `partOf` selects the bytes to read;
   * its errors pass through.
   */
  open(path: string, partOf?: PartOf): Promise<OpenedFile | null>;
  /**
   * Removes a file by a path from `write` or `list`; a missing file is fine. Returns false if the store refuses; the sweep removes the file
   * later, because its row is gone.
   */
  remove(path: string): Promise<boolean>;
  /**
   * The files of a folder that were last written over `minAgeMs` ago, by default an hour, including leftovers of killed writers; 0 lists all.
   * An object store measures by its own clock.
   */
  list(folder: string, minAgeMs?: number): AsyncGenerator<string>;
  /** Closes connections; the store is not used afterwards. */
  close(): Promise<void>;
}

/** A younger file may still be written, or its row may not be committed yet. */
export const minOrphanAgeMs = HOUR;
