import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { GatheredBytes } from '@portal/domain/gathered-bytes';
import { throwUnwritable } from '@portal/domain/unwritable';
import { OutboundError } from './outbound-error.ts';

export interface BodyLimits {
  /** Method of the request: an answer to HEAD has no body, even if its headers announce one. */
  method?: string;
  /** Largest accepted body, after decompression. */
  maxBytes: number;
  /** For a longer body: `refuse` (default) throws `too_large`, `cut` keeps its first `maxBytes`. */
  overflow?: 'refuse' | 'cut';
  /** Before reading more than `aboveBytes` into memory, reading pauses once for `wait`; time limits keep running. */
  large?: { aboveBytes: number; wait: () => Promise<void> };
}

export interface Destination {
  /** Target of the body: an open file, or a path without a file yet; a failure leaves no file there. */
  path: string | FileHandle;
  /** Longest pause between two chunks of the body. */
  stallMs: number;
}

type Chunks = AsyncIterable<Buffer>;

const readAheadBytes = 256 * 1024;

class EnoughError extends Error {}

/** Reads the body of an answer into memory. Errors name `host`. */
export async function bodyOf(response: IncomingMessage, host: string, limits: BodyLimits): Promise<Buffer> {
  const { maxBytes, overflow = 'refuse', large } = limits;
  const decoders = decodersOf(response, host, limits);
  const body = new GatheredBytes();
  let remaining = maxBytes;
  let mayGrow = large === undefined;
  /** Returns a promise if the next chunk has to wait. */
  const take = (chunk: Buffer): Promise<void> | null => {
    body.add(chunk.length > remaining ? chunk.subarray(0, remaining) : chunk, maxBytes);
    remaining -= chunk.length;
    if (remaining < 0) throw overflow === 'cut' ? new EnoughError() : new OutboundError('too_large', host);
    if (mayGrow || !large || maxBytes - remaining <= large.aboveBytes) return null;
    mayGrow = true;
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

/** Reads a body that needs no decoding. Most have one or two chunks, for which a pipeline would cost more than the rest. */
function readAll(response: IncomingMessage, take: (chunk: Buffer) => Promise<void> | null): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => {
    if (!response.readableEnded)
      reject(response.errored ?? new Error('the connection closed before the end of the answer'));
  };
  response.on('end', resolve);
  response.on('error', reject);
  response.on('close', onClose);
  if (response.destroyed) onClose();
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
 * Writes the body of an answer to a file, one chunk in memory at a time, and returns its size in bytes. Throws 503 `UNAVAILABLE` if our
 * own disk refuses the data, which is not the host's fault.
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
      endAfterSilence(stallMs, response, host),
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

const endAfterSilence = (ms: number, response: IncomingMessage, host: string) =>
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

/** Ends an endless compressed body that decompresses to nothing. */
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

/** The decoders of a body. An answer may have one compression: our request never asks for several at once. */
function decodersOf({ headers, statusCode }: IncomingMessage, host: string, { method, maxBytes }: BodyLimits) {
  if (method === 'HEAD' || statusCode === 204 || statusCode === 304) return [];
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return [];
  const decoder = decoders[encoding];
  if (!decoder) throw new OutboundError('malformed', host);
  // A body is rarely larger compressed than decompressed; read-ahead must not fail a body that will be cut.
  return [limitTo(2 * maxBytes + readAheadBytes, host), decoder()];
}
