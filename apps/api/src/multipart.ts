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
 *
 * It stands on the parser below `@fastify/multipart`, not on the plugin: that one passes over parts it cannot read and says nothing of
 * them, takes the first of two dispositions, and reads a field in the encoding it names. In `test/attacks/forms.test.ts` it so fails
 * the forms with a part without headers, that says only its type, that is an attachment, with two dispositions, with a header that is
 * none, cut off by its end in a header, with a longer boundary, with a line break in a name and with a field in UTF-16.
 */
export async function readParts(
  request: FastifyRequest,
  maxBytes: number,
  take: (part: Part) => Promise<void>,
): Promise<void> {
  const parser = new Dicer({ boundary: boundaryOf(request), ...headerLimits });
  const fault = Promise.withResolvers<never>();
  const end = Promise.withResolvers<void>();
  const taken: Promise<void>[] = [];
  let begun = 0;
  let hasFailed = false;

  parser.on('error', fault.reject).on('finish', end.resolve);
  parser.on('part', (body) => {
    begun += 1;
    // It says that it breaks off also when nobody reads it.
    body.on('error', () => undefined);
    body.once('header', (header) => {
      const taking = Promise.try(() => take(partOf(header as PartHeader, body)));
      taking.catch(fault.reject);
      taken.push(taking);
    });
  });

  async function readAll(): Promise<void> {
    let bytes = 0;
    for await (const chunk of request.raw as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) fault.reject(tooLarge('The upload is larger than allowed.'));
      // It is not waited for: it holds no more than the body may have.
      else if (!hasFailed) parser.write(chunk);
    }
    parser.end();
    await end.promise;
    if (taken.length < begun) throw noPart();
    await Promise.all(taken);
  }
  try {
    await Promise.race([fault.promise, readAll()]);
  } catch (error) {
    hasFailed = true;
    throw error instanceof PortalError ? error : incomplete(error);
  }
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
