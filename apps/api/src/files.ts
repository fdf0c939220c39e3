import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenedFile } from '@portal/usecases/files/room';

/** Answers with a stored file's bytes. What a browser makes of them cannot run anything: no sniffing, no scripts, no frames. */
export function sendFile(reply: FastifyReply, type: string, { stream, sizeBytes }: OpenedFile): FastifyReply {
  reply.type(type).header('content-length', sizeBytes).header('content-security-policy', "default-src 'none'; sandbox");
  return reply.send(stream);
}

/** Whether the caller has what this strong entity tag names (`If-None-Match`, RFC 9110, 13.1.2), so that 304 is the answer. */
export function isUnchanged({ headers }: FastifyRequest, tag: string): boolean {
  const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}
