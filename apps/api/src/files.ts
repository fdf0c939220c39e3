import { create } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { PortalError } from '@portal/domain/errors';
import { shownFileName } from '@portal/domain/text';
import type { OpenedFile, Part, PartOf } from '@portal/platform/files/plain-file';
import { errorBody, jsonType } from './plugins/error-body.ts';

export interface ServedFile {
  type: string;
  /** Names these bytes and no others; a client that has them already gets 304. */
  tag?: string;
  /** The name it is to be saved under; without one it is shown. */
  saveAs?: string;
  /** For large files: a caller may ask for a part, such as the rest of a download that broke off. */
  inParts?: boolean;
}

/** The entity tag of a kept file: it is never written to again, so its name names its bytes. */
export const fileTag = (path: string): string => path.split('/').at(-1) ?? path;

export interface MadeFile {
  name: string;
  type: string;
  bytes: Uint8Array;
}

const sandboxed = "default-src 'none'; sandbox";

/**
 * Answers with a file's bytes, which are opened only when they are sent. What a browser makes of them cannot run anything: no sniffing,
 * no scripts, no frames.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, tag, saveAs, inParts = false }: ServedFile,
  open: (partOf?: PartOf) => OpenedFile | Promise<OpenedFile>,
): Promise<FastifyReply> {
  const entityTag = tag === undefined ? null : `"${tag}"`;
  if (entityTag !== null) reply.header('etag', entityTag);
  if (inParts) reply.header('accept-ranges', 'bytes');
  if (entityTag !== null && isUnchanged(request, entityTag)) return reply.status(304).send();
  if (saveAs !== undefined) reply.header('content-disposition', attachment(saveAs));
  const asked = inParts ? askedRange(request, entityTag) : null;
  try {
    const { stream, sizeBytes, part } = await open(asked === null ? undefined : (size) => partOf(size, asked));
    reply.type(type).header('content-security-policy', sandboxed);
    if (part) reply.status(206).header('content-range', `bytes ${part.start}-${part.end}/${sizeBytes}`);
    const length = part ? part.end - part.start + 1 : sizeBytes;
    // Nobody takes it, and so nobody has to read it.
    if (request.method === 'HEAD') stream.destroy();
    // Somebody cut the file short meanwhile: what has come is not all of it, and the rest never comes.
    else stream.once('end', () => stream.bytesRead < length && request.socket.destroy());
    return reply.header('content-length', length).send(stream);
  } catch (error) {
    if (!(error instanceof NoSuchPartError)) throw error;
    const body = errorBody('RANGE_NOT_SATISFIABLE');
    reply.removeHeader('content-disposition').header('content-range', `bytes */${error.sizeBytes}`);
    // Serialized here: the route's schemas are those of its own answers.
    return reply.status(416).type(jsonType).send(JSON.stringify(body));
  }
}

/**
 * Answers with the file that a row names. Between the look at the row and the opening another file may have taken its place: whatever
 * is not found is looked for once more.
 */
export async function sendStored(send: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof PortalError && error.code === 'NOT_FOUND') return send();
    throw error;
  }
}

/** Answers with bytes that were made for the caller alone, as a file to be saved; a browser runs nothing of it either. */
export function sendMadeFile(reply: FastifyReply, { name, type, bytes }: MadeFile): FastifyReply {
  return reply
    .type(type)
    .header('content-disposition', attachment(name))
    .header('content-security-policy', sandboxed)
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** Answers with JSON that was written elsewhere. */
export const sendJson = (reply: FastifyReply, json: Uint8Array): FastifyReply => reply.type(jsonType).send(json);

/** Whatever the name, it stays inside the header, and every browser finds it there. */
const attachment = (name: string): string => create(shownFileName(name.toWellFormed(), 'file'));

/** Whether the caller has what this strong entity tag names (`If-None-Match`, RFC 9110, 13.1.2), so that 304 is the answer. */
function isUnchanged({ headers }: FastifyRequest, tag: string): boolean {
  const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}

/** The part asked for, unless it was to be one of other bytes than these (`If-Range`, RFC 9110, 13.1.5). */
function askedRange({ headers, method }: FastifyRequest, tag: string | null): string | null {
  const condition = headers['if-range'];
  const isMeant = condition === undefined || condition === tag;
  return method === 'GET' && isMeant ? (headers.range ?? null) : null;
}

class NoSuchPartError extends Error {
  readonly sizeBytes: number;

  constructor(sizeBytes: number) {
    super('The requested range is outside the file.');
    this.sizeBytes = sizeBytes;
  }
}

/** The one part a header asks for; null, so the whole file, for several of them and for what cannot be understood. */
function partOf(sizeBytes: number, header: string): Part | null {
  const ranges = parseRange(sizeBytes, withinSize(sizeBytes, header));
  if (ranges === -1) throw new NoSuchPartError(sizeBytes);
  const [part, ...others] = ranges === -2 || ranges.type !== 'bytes' ? [] : ranges;
  return part && others.length === 0 ? part : null;
}

/** The library refuses a suffix that is longer than the file. It means the whole file (RFC 9110, 14.1.2). */
function withinSize(sizeBytes: number, header: string): string {
  const suffix = /^bytes=\s*-(\d{1,20})\s*$/.exec(header)?.[1];
  return suffix !== undefined && Number(suffix) > sizeBytes ? `bytes=-${sizeBytes}` : header;
}
