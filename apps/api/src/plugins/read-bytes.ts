import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';
import { GatheredBytes } from '@portal/domain/gathered-bytes';

/**
 * Reads a whole body or one part of it. Throws 413 beyond `maxBytes`, 429 or 503 beyond the load limits, and 400 if the body ends too
 * early. After that the rest of the stream stays unread; the server discards it.
 */
export async function readBytes(
  request: FastifyRequest,
  stream: Readable,
  maxBytes: number,
  refusal: () => PortalError = tooLarge,
): Promise<Buffer> {
  const bytes = new GatheredBytes();
  let held = 0;
  try {
    // Destroying the request would also close the connection, which the answer still needs.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (bytes.length + chunk.length > maxBytes) throw refusal();
      bytes.add(chunk, maxBytes);
      request.holdBytes(bytes.capacity - held);
      held = bytes.capacity;
    }
  } catch (error) {
    throw error instanceof PortalError ? error : endedEarly(error);
  }
  const all = bytes.take();
  return Buffer.from(all.buffer, all.byteOffset, all.byteLength);
}

const endedEarly = (cause: unknown): PortalError =>
  invalid('VALIDATION_FAILED', 'The request body ended too early.', { cause });
