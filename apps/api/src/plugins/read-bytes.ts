import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';
import { GatheredBytes } from '@portal/domain/gathered-bytes';

/**
 * All of a body or a part of one, whatever pieces it comes in. Throws 413 beyond `maxBytes`, 429 or 503 when there is no room for it, 400
 * when it breaks off. What still comes after that is left to the server.
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
    // The answer has to go out on the connection that a destroyed request would take with it.
    for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (bytes.length + chunk.length > maxBytes) throw refusal();
      bytes.add(chunk, maxBytes);
      request.holdBytes(bytes.capacity - held);
      held = bytes.capacity;
    }
  } catch (error) {
    throw error instanceof PortalError ? error : brokenOff(error);
  }
  const all = bytes.take();
  return Buffer.from(all.buffer, all.byteOffset, all.byteLength);
}

const brokenOff = (cause: unknown): PortalError =>
  invalid('VALIDATION_FAILED', 'The request body ended too early.', { cause });
