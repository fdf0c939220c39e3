import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { invalid, type PortalError, tooLarge } from '@portal/domain/errors';

const firstBytes = 16 * 1024;
const nothing: Buffer = Buffer.alloc(0);

/**
 * All of a body or a part of one, in memory that grows with what has come, whatever pieces it comes in. Throws 413 beyond
 * `maxBytes`, 429 or 503 when there is no room for it, 400 when it breaks off.
 */
export function readBytes(
  request: FastifyRequest,
  stream: Readable,
  maxBytes: number,
  refusal: () => PortalError = tooLarge,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // It may have broken off while the session was looked up, and says so once.
    if (stream.readableAborted) return reject(brokenOff());
    let bytes = nothing;
    let length = 0;

    /** Makes room for what comes next; one piece alone stays where it is. */
    function grow(needed: number): void {
      const capacity = length === 0 ? needed : Math.min(Math.max(needed, 2 * bytes.length, firstBytes), maxBytes);
      request.holdBytes(capacity - bytes.length);
      if (length === 0) return;
      const larger = Buffer.allocUnsafeSlow(capacity);
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    function onData(chunk: Buffer): void {
      const needed = length + chunk.length;
      try {
        if (needed > maxBytes) throw refusal();
        if (needed > bytes.length) grow(needed);
      } catch (error) {
        return end(error);
      }
      if (length === 0) bytes = chunk;
      else chunk.copy(bytes, length);
      length = needed;
    }
    function end(error?: unknown): void {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      bytes = error === undefined ? bytes.subarray(0, length) : nothing;
      if (error === undefined) resolve(bytes);
      else reject(error);
    }
    const onEnd = () => end();
    const onError = (error: unknown) => end(error);
    const onClose = () => end(brokenOff());
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    stream.resume();
  });
}

const brokenOff = (): PortalError => invalid('VALIDATION_FAILED', 'The request body ended too early.');
