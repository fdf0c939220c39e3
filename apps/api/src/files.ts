import type { FastifyReply } from 'fastify';
import type { OpenedFile } from '@portal/usecases/files/room';

/** Answers with a stored file's bytes. What a browser makes of them cannot run anything: no sniffing, no scripts, no frames. */
export function sendFile(reply: FastifyReply, type: string, { stream, sizeBytes }: OpenedFile): FastifyReply {
  reply.type(type).header('content-length', sizeBytes).header('content-security-policy', "default-src 'none'; sandbox");
  return reply.send(stream);
}
