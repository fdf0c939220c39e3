import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';

const firstBytes = 16 * 1024;

/**
 * All of a body or a part of one, in one buffer that grows with what has come: a list of pieces would weigh far more than the bytes when
 * each is a chunk of one byte. Throws 413 beyond `maxBytes`, 429 or 503 when there is no room for it, 400 when it breaks off. What still
 * comes after that is left to the server.
 */
export async function readBytes(
  request: FastifyRequest,
  stream: Readable,
  maxBytes: number,
  refusal: () => PortalError = tooLarge,
): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  let length = 0;
  try {
    // The answer has to go out on the connection that a destroyed request would take with it.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const needed = length + chunk.length;
      if (needed > maxBytes) throw refusal();
      if (needed > bytes.length) {
        const capacity = Math.min(Math.max(needed, 2 * bytes.length, firstBytes), maxBytes);
        request.holdBytes(capacity - bytes.length);
        const larger = Buffer.allocUnsafe(capacity);
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      chunk.copy(bytes, length);
      length = needed;
    }
  } catch (error) {
    throw error instanceof PortalError ? error : brokenOff(error);
  }
  return bytes.subarray(0, length);
}

const brokenOff = (cause: unknown): PortalError =>
  invalid('VALIDATION_FAILED', 'The request body ended too early.', { cause });
