import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
// It parses any header with parameters, Content-Type included.
import { parse } from 'content-disposition';
import type { FastifyRequest } from 'fastify';
import { invalid, PortalError, tooLarge } from '@portal/domain/errors';
import { isInUtf8 } from './plugins/json-body.ts';

/** A part of a form; its bytes are still arriving. */
export interface Part {
  name: string;
  /** True for a part with a file name or of type application/octet-stream; all other parts are text fields. */
  isFile: boolean;
  /** The sender's name for the file, without folders. */
  fileName: string | undefined;
  body: Readable;
}

/** For the headers of one part; far more than any client writes. */
const headerLimits = { maxHeaderSize: 8 * 1024, maxHeaderPairs: 20 };
/** RFC 2046, 5.1.1 */
const longestBoundary = 70;

/**
 * Passes each part of a multipart/form-data body to `take` as soon as it begins; `take` must read or resume the part. Resolves when the
 * body has ended and every `take` has resolved. Throws at the first fault and ignores the rest of the body: 413 beyond `maxBytes` of
 * body, 400 for an invalid or incomplete form, and every error of `take`.
 *
 * It uses the parser of `@fastify/multipart`, but not the plugin. The plugin silently skips parts that it cannot read, takes the first of
 * two dispositions, and decodes a field in the encoding that the field names. Of the forms in `test/attacks/forms.test.ts` the plugin
 * therefore fails these: a part without headers, with only a type, as an attachment, with two dispositions, with an invalid header, or
 * cut off within a header; a longer boundary; a line break in a name; a field in UTF-16.
 */
export async function readParts(
  request: FastifyRequest,
  maxBytes: number,
  take: (part: Part) => Promise<void>,
): Promise<void> {
  const parser = new Dicer({ boundary: boundaryOf(request), ...headerLimits });
  const fault = Promise.withResolvers<never>();
  const end = Promise.withResolvers<void>();
  const takes: Promise<void>[] = [];
  let partCount = 0;
  let hasFailed = false;

  parser.on('error', fault.reject).on('finish', end.resolve);
  parser.on('part', (body) => {
    partCount += 1;
    // A cut-off part emits `error` even if `take` never reads it; without a listener that ends the process.
    body.on('error', () => undefined);
    body.once('header', (header) => {
      const taking = Promise.try(() => take(partOf(header as PartHeader, body)));
      taking.catch(fault.reject);
      takes.push(taking);
    });
  });

  async function readAll(): Promise<void> {
    let bytes = 0;
    for await (const chunk of request.raw as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) fault.reject(tooLarge('The upload is larger than allowed.'));
      // No backpressure: the parser holds at most `maxBytes`.
      else if (!hasFailed) parser.write(chunk);
    }
    parser.end();
    await end.promise;
    if (takes.length < partCount) throw noPart();
    await Promise.all(takes);
  }
  try {
    await Promise.race([fault.promise, readAll()]);
  } catch (error) {
    hasFailed = true;
    throw error instanceof PortalError ? error : incomplete(error);
  }
}

/** Values by lower-case header name, in the order sent, as raw bytes (latin1). */
type PartHeader = Record<string, string[]>;

function partOf(header: PartHeader, body: Readable): Part {
  const [disposition, ...others] = header['content-disposition'] ?? [];
  if (disposition === undefined || others.length > 0) throw noPart();
  const { type, parameters } = parse(utf8Of(disposition), { multipart: true });
  const { name, filename: fileName } = parameters;
  if (type !== 'form-data' || name === undefined) throw noPart();
  const [contentType = ''] = header['content-type'] ?? [];
  const [coding = 'binary'] = header['content-transfer-encoding'] ?? [];
  // In each of these cases we would store other bytes than the sender meant.
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
