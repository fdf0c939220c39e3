import { create } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { PortalError } from '@portal/domain/errors';
import { shownFileName } from '@portal/domain/text';
import { FileStream, type OpenedFile, type Part, type PartOf } from '@portal/platform/files/opened-file';
import { errorBody, jsonType } from './plugins/error-body.ts';

export interface ServedFile {
  type: string;
  /** Identifies exactly these bytes; a client that already has them gets 304. */
  tag?: string;
  /** The browser saves the file under this name; without one it shows the file. */
  saveAs?: string;
  /** For large files: a caller may request a range, for example the rest of an interrupted download. */
  acceptsRanges?: boolean;
}

/** The entity tag of a stored file: it is never written again, so its name identifies its bytes. */
export const fileTag = (path: string): string => path.split('/').at(-1) ?? path;

export interface MadeFile {
  name: string;
  type: string;
  bytes: Uint8Array;
}

const sandboxed = "default-src 'none'; sandbox";

/** Answers with a file, opened only if its bytes are sent. A browser runs nothing of it: no sniffing, no scripts, no frames. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, tag, saveAs, acceptsRanges = false }: ServedFile,
  open: (partOf?: PartOf) => OpenedFile | Promise<OpenedFile>,
): Promise<FastifyReply> {
  const entityTag = tag === undefined ? null : `"${tag}"`;
  if (entityTag !== null) reply.header('etag', entityTag);
  if (acceptsRanges) reply.header('accept-ranges', 'bytes');
  if (entityTag !== null && isUnchanged(request, entityTag)) return reply.status(304).send();
  if (saveAs !== undefined) reply.header('content-disposition', attachment(saveAs));
  const range = acceptsRanges ? requestedRange(request, entityTag) : null;
  // An answer to HEAD has no body.
  const isHead = request.method === 'HEAD';
  const bytesToSend: PartOf | undefined = range === null ? undefined : (size) => partOf(size, range);
  try {
    const { stream, sizeBytes, part } = await open(isHead ? () => 'none' : bytesToSend);
    reply.type(type).header('content-security-policy', sandboxed);
    if (part) reply.status(206).header('content-range', `bytes ${part.start}-${part.end}/${sizeBytes}`);
    const length = part ? part.end - part.start + 1 : sizeBytes;
    if (isHead) stream.destroy();
    // Everything written so far has left this process.
    else if (stream instanceof FileStream) stream.reclaimMemory(() => reply.raw.writableLength === 0);
    return reply.header('content-length', length).send(stream);
  } catch (error) {
    if (!(error instanceof NoSuchPartError)) throw error;
    const body = errorBody('RANGE_NOT_SATISFIABLE');
    reply.removeHeader('content-disposition').header('content-range', `bytes */${error.sizeBytes}`);
    // Serialized here: the route's schemas describe only its own answers.
    return reply.status(416).type(jsonType).send(JSON.stringify(body));
  }
}

/**
 * Answers with the file that a row names. Another file may replace it between reading the row and opening the file, so `send` runs
 * a second time after a 404.
 */
export async function sendStored(send: () => Promise<FastifyReply>): Promise<FastifyReply> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof PortalError && error.code === 'NOT_FOUND') return send();
    throw error;
  }
}

/** Answers with bytes generated for this caller, as a download; a browser runs nothing of it. */
export function sendMadeFile(reply: FastifyReply, { name, type, bytes }: MadeFile): FastifyReply {
  return reply
    .type(type)
    .header('content-disposition', attachment(name))
    .header('content-security-policy', sandboxed)
    .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** Answers with JSON that is already serialized. */
export const sendJson = (reply: FastifyReply, json: Uint8Array): FastifyReply => reply.type(jsonType).send(json);

/** Escapes any name so that it stays inside the header and every browser can read it. */
const attachment = (name: string): string => create(shownFileName(name.toWellFormed(), 'file'));

/** Whether the caller already has these bytes (`If-None-Match` with this strong entity tag, RFC 9110, 13.1.2). */
export function isUnchanged({ headers }: FastifyRequest, tag: string): boolean {
  const known = (headers['if-none-match'] ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}

/** The `Range` header; null if `If-Range` names another version of the file (RFC 9110, 13.1.5). */
function requestedRange({ headers, method }: FastifyRequest, tag: string | null): string | null {
  const condition = headers['if-range'];
  const isCurrent = condition === undefined || condition === tag;
  return method === 'GET' && isCurrent ? (headers.range ?? null) : null;
}

class NoSuchPartError extends Error {
  readonly sizeBytes: number;

  constructor(sizeBytes: number) {
    super('The requested range is outside the file.');
    this.sizeBytes = sizeBytes;
  }
}

/** The single range that a header requests; null (the whole file) for several ranges and for an invalid header. */
function partOf(sizeBytes: number, header: string): Part | null {
  const ranges = parseRange(sizeBytes, withinSize(sizeBytes, header));
  if (ranges === -1) throw new NoSuchPartError(sizeBytes);
  const [part, ...others] = ranges === -2 || ranges.type !== 'bytes' ? [] : ranges;
  return part && others.length === 0 ? part : null;
}

/** The library refuses a suffix longer than the file, which means the whole file (RFC 9110, 14.1.2). */
function withinSize(sizeBytes: number, header: string): string {
  const suffix = /^bytes=\s*-(\d{1,20})\s*$/.exec(header)?.[1];
  return suffix !== undefined && Number(suffix) > sizeBytes ? `bytes=-${sizeBytes}` : header;
}
