import { randomBytes } from 'node:crypto';
import { constants, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal, Readable } from 'node:stream';
import { tooLarge } from '@portal/domain/errors';

/** A stream of bytes, not of text. */
export type FileContent = Uint8Array | Readable;

export interface WriteLimits {
  maxBytes: number;
  signal?: AbortSignal;
  /** File mode; default: only the owner may read and write. */
  mode?: number;
}

/** Writes a temporary file and renames it, so that `place` holds the whole content or nothing. Returns the number of bytes. */
export async function writeThenRename(place: string, content: FileContent, limits: WriteLimits): Promise<number> {
  let sizeBytes = 0;
  await fillThenRename(place, async (unfinished) => {
    sizeBytes = await writeDurably(unfinished, content, limits);
    return true;
  });
  return sizeBytes;
}

/** Like `writeThenRename`, but `fill` writes and syncs the temporary file. If `fill` returns false, `place` stays unchanged. */
export async function fillThenRename(place: string, fill: (unfinished: string) => Promise<boolean>): Promise<boolean> {
  const unfinished = `${place}.${randomBytes(6).toString('hex')}.part`;
  try {
    const isFilled = await fill(unfinished);
    if (isFilled) {
      await rename(unfinished, place);
      await syncPlace(dirname(place));
    }
    return isFilled;
  } finally {
    await unlink(unfinished).catch(() => undefined);
  }
}

async function writeDurably(
  place: string,
  content: FileContent,
  { maxBytes, signal, mode = 0o600 }: WriteLimits,
): Promise<number> {
  await using file = await open(place, 'wx', mode);
  const source = content instanceof Readable ? content : Readable.from([content]);
  if (signal) addAbortSignal(signal, source);
  let sizeBytes = 0;
  // Holds one chunk at a time; leaving the loop early closes the stream.
  for await (const chunk of source as AsyncIterable<Uint8Array>) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) {
      throw tooLarge(`The file must not be larger than ${maxBytes} bytes.`);
    }
    await file.writeFile(chunk);
  }
  await file.sync();
  return sizeBytes;
}

/** Syncs a file, or a folder after a rename in it, to the disk. */
export async function syncPlace(place: string): Promise<void> {
  await using handle = await open(place, constants.O_RDONLY);
  await handle.sync();
}
