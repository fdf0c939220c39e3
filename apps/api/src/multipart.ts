import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
// Its grammar is that of any header with parameters.
import { parse } from 'content-disposition';
import type { FastifyRequest } from 'fastify';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';
import { isInUtf8 } from './plugins/json-body.ts';

/** A part of a form, whose bytes are still coming in. */
export interface Part {
  name: string;
  /** A field is text; whatever comes with a file name or as mere bytes is a file. */
  isFile: boolean;
  /** What the sender calls the file, without folders. */
  fileName: string | undefined;
  body: Readable;
}

/** Of the headers of one part; far more than any client writes. */
const headerLimits = { maxHeaderSize: 8 * 1024, maxHeaderPairs: 20 };
/** RFC 2046, 5.1.1 */
const longestBoundary = 70;

/**
 * Hands each part of a multipart/form-data body to `take` when it begins; it has to read or resume the part. Resolves once the
 * body is over and every part taken. Throws at the first fault: 413 beyond `maxBytes` of body, 400 for what is no whole form, and
 * whatever `take` throws. What still comes after that is passed over.
 */
export function readParts(
  request: FastifyRequest,
  maxBytes: number,
  take: (part: Part) => Promise<void>,
): Promise<void> {
  const { raw } = request;
  return new Promise((resolve, reject) => {
    // It may have broken off while its target was looked up, and says so once.
    if (raw.readableAborted) throw incomplete();
    const parser = new Dicer({ boundary: boundaryOf(request), ...headerLimits });
    const taken: Promise<void>[] = [];
    let begun = 0;
    let bytes = 0;
    const open = new Set<unknown>([raw, parser]);

    function fail(error: unknown): void {
      raw.off('data', onData).resume();
      parser.removeAllListeners('part');
      reject(error instanceof PortalError ? error : incomplete(error));
    }
    function onData(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > maxBytes) fail(tooLarge('The upload is larger than allowed.'));
      else if (!parser.write(chunk)) raw.pause();
    }
    /** The parser is at its end when it has seen the last boundary, the body when nothing comes after that. */
    function end(one: unknown): void {
      open.delete(one);
      if (open.size > 0) return;
      if (taken.length < begun) fail(noPart());
      else void Promise.all(taken).then(() => resolve());
    }
    parser.on('part', (body) => {
      begun += 1;
      // It says that it breaks off also when its reader has left.
      body.on('error', () => undefined);
      body.once('header', (header) => {
        const taking = Promise.try(() => take(partOf(header as PartHeader, body)));
        taken.push(taking.catch(fail));
      });
    });
    parser.on('error', fail).on('drain', () => raw.resume());
    // Where it had asked to wait in the last piece of a form, it ends without asking for more.
    parser.on('finish', () => {
      raw.resume();
      end(parser);
    });
    raw.on('error', fail).once('close', () => {
      if (!raw.readableEnded) fail(incomplete());
    });
    raw.on('data', onData).once('end', () => {
      parser.end();
      end(raw);
    });
  });
}

/** By name in lower case, each as often as it was sent, its bytes as they came. */
type PartHeader = Record<string, string[]>;

function partOf(header: PartHeader, body: Readable): Part {
  const [disposition, ...others] = header['content-disposition'] ?? [];
  if (disposition === undefined || others.length > 0) throw noPart();
  const { type, parameters } = parse(utf8Of(disposition), { multipart: true });
  const { name, filename: fileName } = parameters;
  if (type !== 'form-data' || name === undefined) throw noPart();
  const [contentType = ''] = header['content-type'] ?? [];
  const [coding = 'binary'] = header['content-transfer-encoding'] ?? [];
  // Each would be kept as other bytes than the sender means.
  if (/^multipart\//i.test(contentType) || !/^(7bit|8bit|binary)$/i.test(coding)) throw noPart();
  const isFile = fileName !== undefined || /^application\/octet-stream\b/i.test(contentType);
  if (!isFile && !isInUtf8(contentType)) throw noPart();
  return { name, isFile, fileName: fileName?.split(/[\\/]/).at(-1), body };
}

const utf8Of = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

function boundaryOf({ headers }: FastifyRequest): string {
  const { boundary = '' } = parse(headers['content-type'] ?? '').parameters;
  if (boundary === '' || boundary.length > longestBoundary) throw incomplete();
  return boundary;
}

const noPart = (): PortalError => invalid('VALIDATION_FAILED', 'The upload has a part that is not a form field.');

const incomplete = (cause?: unknown): PortalError =>
  invalid('VALIDATION_FAILED', 'The upload is not complete multipart/form-data.', { cause });
