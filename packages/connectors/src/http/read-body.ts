import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatheredBytes } from '@portal/domain/gathered-bytes';
import { throwUnwritable } from '@portal/domain/unwritable';
import { OutboundError } from './outbound-error.ts';

export interface BodyLimits {
  /** As it was asked: to HEAD there is no body, whatever the headers say. */
  method?: string;
  /** Most bytes taken of the body, after decompression. */
  maxBytes: number;
  /** What becomes of a longer body: refused as `too_large` unless `cut`, which takes its beginning. */
  overflow?: 'refuse' | 'cut';
  /** Of a body kept in memory, what goes beyond so many bytes is read once there is room; its time runs on meanwhile. */
  large?: { aboveBytes: number; wait: () => Promise<void> };
}

export interface Destination {
  /** Where the body goes: a place, where nothing may be yet and after a failure nothing is, or an open file. */
  path: string | FileHandle;
  /** Longest silence in the middle of the body. */
  stallMs: number;
}

type Chunks = AsyncIterable<Buffer>;

const readAheadBytes = 256 * 1024;

class EnoughError extends Error {}

/** The body of an answer in memory. `host` is for the failure. */
export async function bodyOf(response: IncomingMessage, host: string, limits: BodyLimits): Promise<Buffer> {
  const { maxBytes, overflow = 'refuse', large } = limits;
  const decoders = decodersOf(response, host, limits);
  const body = new GatheredBytes();
  let room = maxBytes;
  let hasRoom = large === undefined;
  /** A promise where the next chunk has to wait. */
  const take = (chunk: Buffer): Promise<void> | null => {
    body.add(chunk.length > room ? chunk.subarray(0, room) : chunk, maxBytes);
    room -= chunk.length;
    if (room < 0) throw overflow === 'cut' ? new EnoughError() : new OutboundError('too_large', host);
    if (hasRoom || !large || maxBytes - room <= large.aboveBytes) return null;
    hasRoom = true;
    return large.wait();
  };
  try {
    if (decoders.length === 0) await readAll(response, take);
    else
      await pipeline([
        response,
        ...decoders,
        async (source: Chunks) => {
          for await (const chunk of source) await take(chunk);
        },
      ]);
  } catch (error) {
    if (!(error instanceof EnoughError)) throw error;
  }
  const all = body.take();
  return Buffer.from(all.buffer, all.byteOffset, all.byteLength);
}

/** Reads a body that needs no decoding, most often a chunk or two, for which a pipeline would cost more than all else. */
function readAll(response: IncomingMessage, take: (chunk: Buffer) => Promise<void> | null): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const brokenOff = () => {
    if (!response.readableEnded) reject(response.errored ?? new Error('the answer broke off'));
  };
  response.on('end', resolve);
  response.on('error', reject);
  response.on('close', brokenOff);
  if (response.destroyed) brokenOff();
  const giveUp = (error: unknown) => {
    reject(error);
    response.destroy();
  };
  response.on('data', (chunk: Buffer) => {
    try {
      const waiting = take(chunk);
      if (waiting === null) return;
      response.pause();
      waiting.then(() => response.resume(), giveUp);
    } catch (error) {
      giveUp(error);
    }
  });
  return promise;
}

/**
 * Writes the body of an answer to a file, a chunk in memory at a time, and answers how many bytes it had. Throws 503 `UNAVAILABLE` where
 * our own disk does not take it, which is no fault of the host.
 */
export async function saveBody(
  response: IncomingMessage,
  host: string,
  { path, stallMs, ...limits }: Destination & BodyLimits,
): Promise<number> {
  await using own = typeof path === 'string' ? await open(path, 'wx', 0o600).catch(throwUnwritable) : null;
  const file = own ?? (path as FileHandle);
  let sizeBytes = 0;
  try {
    await pipeline([
      response,
      endingAfterSilence(stallMs, response, host),
      ...decodersOf(response, host, limits),
      async (source: Chunks) => {
        for await (const chunk of source) {
          sizeBytes += chunk.length;
          if (sizeBytes > limits.maxBytes) throw new OutboundError('too_large', host);
          await file.writeFile(chunk).catch(throwUnwritable);
        }
      },
    ]);
    return sizeBytes;
  } catch (error) {
    if (typeof path === 'string') await unlink(path);
    throw error;
  }
}

const endingAfterSilence = (ms: number, response: IncomingMessage, host: string) =>
  async function* (source: Chunks) {
    const timer = setTimeout(() => response.destroy(new OutboundError('timeout', host)), ms);
    try {
      for await (const chunk of source) {
        yield chunk;
        timer.refresh();
      }
    } finally {
      clearTimeout(timer);
    }
  };

/** Ends a body that goes on and on while it unpacks to nothing. */
const limitTo = (bytes: number, host: string) =>
  async function* (source: Chunks) {
    let left = bytes;
    for await (const chunk of source) {
      left -= chunk.length;
      if (left < 0) throw new OutboundError('too_large', host);
      yield chunk;
    }
  };

const decoders: Record<string, () => Duplex> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** What undoes the one compression an answer may have; nobody who was asked for one sends several. */
function decodersOf({ headers, statusCode }: IncomingMessage, host: string, { method, maxBytes }: BodyLimits) {
  if (method === 'HEAD' || statusCode === 204 || statusCode === 304) return [];
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return [];
  const decoder = decoders[encoding];
  if (!decoder) throw new OutboundError('malformed', host);
  // Packed, a body is rarely larger than unpacked; what is read ahead must not count against one that is cut.
  return [limitTo(2 * maxBytes + readAheadBytes, host), decoder()];
}
