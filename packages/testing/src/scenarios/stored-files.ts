import { createCipheriv, createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { readConfig } from '@portal/platform/config';
import { openFileStore } from '@portal/platform/files/open-store';
import type { FileStore } from '@portal/platform/files/store';
import { openLog } from '@portal/platform/log';
import type { RunningStore } from '../servers/swift.ts';
import { workerSettings } from './worker-process.ts';

/** What a scenario counted, and the broken promises, one sentence each. */
export interface Findings {
  counts: Record<string, number>;
  violations: string[];
}

export const MiB = 1024 * 1024;

/** Bytes that look random and follow from the id, so that a caller who knows the id can judge them. */
export function contentOf(id: string, sizeBytes: number): Buffer {
  const key = createHash('sha256').update(id).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes));
}

/** From a few bytes to 24 MiB, so that every second file needs an upload in parts. */
export const sizeOf = (id: string): number => {
  const digest = createHash('sha256').update(id).digest();
  return digest.readUInt32LE(0) % (digest.readUInt8(4) < 128 ? 100_000 : 24 * MiB);
};

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The bytes in chunks of uneven sizes. */
export function inChunks(bytes: Buffer, largest = 200_000): Readable {
  function* chunks(): Generator<Buffer> {
    for (let at = 0, n = 1; at < bytes.length; n += 1) {
      const length = 1 + ((n * 7_919) % largest);
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

/** Settings of a program that uses the object store and nothing else. */
export const storeSettings = (store: RunningStore, prefix: string): Record<string, string> => ({
  ...workerSettings({ databaseUrl: 'postgres://none@127.0.0.1:1/none', redisUrl: null, smtpPort: 1 }),
  PORT: '3000',
  ...store.env(prefix),
});

/** A scenario counts for itself. */
export const uncounted = { countStoreFault: () => undefined };

/** Close it at the end. */
export const openStoreOf = (store: RunningStore, prefix: string): FileStore =>
  openFileStore(readConfig(storeSettings(store, prefix)), openLog('silent', 'script'), uncounted);

/** Digest and size of a stored file; null if it does not exist. */
export async function readStored(
  files: FileStore,
  path: string,
  part: { start: number; end: number } | null = null,
): Promise<{ sha256: string; sizeBytes: number; readBytes: number } | null> {
  const opened = await files.open(path, () => part);
  if (!opened) return null;
  const hash = createHash('sha256');
  let readBytes = 0;
  for await (const chunk of opened.stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    readBytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes: opened.sizeBytes, readBytes };
}

/** Runs `work` for each item, several at once. */
export async function atOnce<T>(items: Iterable<T>, width: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const lane = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
