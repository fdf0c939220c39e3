import { inflateSync } from 'node:zlib';
import {
  decodePDFRawStream,
  EncryptedPDFError,
  ParseSpeeds,
  PDFArray,
  PDFDict,
  PDFDocument,
  PDFHexString,
  PDFName,
  type PDFObject,
  PDFRawStream,
  PDFString,
} from '@cantoo/pdf-lib';
import type { InvoiceError } from '@portal/domain/invoices/invoices';
import { xmlMaxBytes } from '@portal/domain/invoices/limits';
import { type Reading, readXml } from './xml.ts';

/** Standard names of the invoice XML inside a PDF. */
const standardNames: ReadonlySet<string> = new Set(['factur-x.xml', 'xrechnung.xml', 'zugferd-invoice.xml']);
/** Limits for embedded files and for nodes of the name tree, which may be circular. */
const maxFiles = 50;
const maxNodes = 1_000;

interface Embedded {
  name: string;
  stream: PDFRawStream;
}

const failed = (error: InvoiceError): Reading => ({ format: 'other', data: null, error });

/**
 * Reads the invoice inside a PDF. Ignores other embedded files; a PDF without an invoice is `other`.
 *
 * On the samples and 33 broken files, `@cantoo/pdf-lib` and `pdfjs-dist` 6.5 both find every XML in whole files. This library needs no
 * canvas, takes 75 MB instead of 102, and finds the invoice in two of eight truncated files, where the other finds none. It inflates object
 * streams itself and without a limit; a bomb there ends the sandbox process, and the document counts as too large.
 */
export async function readPdf(bytes: Uint8Array): Promise<Reading> {
  let embedded: Embedded[];
  try {
    embedded = embeddedFiles(await opened(bytes));
  } catch (error) {
    return failed(error instanceof EncryptedPDFError || isPasswordWanted(error) ? 'ENCRYPTED' : 'DAMAGED');
  }
  const readings = embedded.map(readEmbedded);
  const invoice = readings.find(({ data }) => data !== null);
  if (invoice) return { ...invoice, format: 'zugferd' };
  const trouble = readings.find(({ error }) => error !== null);
  if (trouble) return trouble;
  return isWhole(bytes) ? { format: 'other', data: null, error: null } : failed('DAMAGED');
}

/** A PDF that is protected only against changes opens with an empty password. */
async function opened(bytes: Uint8Array): Promise<PDFDocument> {
  // No other task waits in this process, so parsing need not yield.
  const options = { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest };
  try {
    return await PDFDocument.load(bytes, options);
  } catch (error) {
    if (!(error instanceof EncryptedPDFError)) throw error;
    return PDFDocument.load(bytes, { ...options, password: '' });
  }
}

const isPasswordWanted = (error: unknown): boolean => error instanceof Error && /password/i.test(error.message);

function readEmbedded({ name, stream }: Embedded): Reading {
  const isNamed = standardNames.has(name.toLowerCase());
  const xml = decompressed(stream);
  if (xml === null) return isNamed ? failed('DAMAGED') : { format: 'other', data: null, error: null };
  if (xml === 'TOO_LARGE') return isNamed ? failed('TOO_LARGE') : { format: 'other', data: null, error: null };
  const reading = readXml(xml);
  // Other embedded files need not be XML.
  return isNamed || reading.data !== null ? reading : { format: 'other', data: null, error: null };
}

/**
 * Embedded files with a standard name first, then other `.xml` files and files without a name. The library's `getAttachments` gives up at
 * one odd entry.
 */
function embeddedFiles({ context, catalog }: PDFDocument): Embedded[] {
  const found: Embedded[] = [];
  let nodes = 0;
  const dictOf = (object: PDFObject | undefined): PDFDict | null => {
    const value = context.lookup(object);
    return value instanceof PDFDict ? value : null;
  };
  const arrayOf = (object: PDFObject | undefined): PDFObject[] => {
    const value = context.lookup(object);
    return value instanceof PDFArray ? value.asArray() : [];
  };
  const take = (specification: PDFObject | undefined): void => {
    const file = dictOf(specification);
    const contents = dictOf(file?.get(PDFName.of('EF')));
    const stream = context.lookup(contents?.get(PDFName.of('UF')) ?? contents?.get(PDFName.of('F')));
    const name = context.lookup(file?.get(PDFName.of('UF')) ?? file?.get(PDFName.of('F')));
    const isText = name instanceof PDFString || name instanceof PDFHexString;
    if (!isText || !(stream instanceof PDFRawStream) || found.length >= maxFiles) return;
    found.push({ name: name.decodeText(), stream });
  };
  const walk = (object: PDFObject | undefined): void => {
    nodes += 1;
    const node = nodes > maxNodes ? null : dictOf(object);
    if (!node) return;
    for (const [at, value] of arrayOf(node.get(PDFName.of('Names'))).entries()) if (at % 2 === 1) take(value);
    for (const kid of arrayOf(node.get(PDFName.of('Kids')))) walk(kid);
  };
  walk(dictOf(catalog.get(PDFName.of('Names')))?.get(PDFName.of('EmbeddedFiles')));
  for (const file of arrayOf(catalog.get(PDFName.of('AF')))) take(file);
  const rank = ({ name }: Embedded): number => (standardNames.has(name.toLowerCase()) ? 0 : 1);
  return found.filter(({ name }) => /^$|\.xml$/i.test(name)).toSorted((a, b) => rank(a) - rank(b));
}

/** The decompressed bytes; null if they cannot be decoded. Node.js inflates plain Flate streams and enforces the size limit. */
function decompressed(stream: PDFRawStream): Uint8Array | 'TOO_LARGE' | null {
  const filter = stream.dict.lookup(PDFName.of('Filter'));
  const isPlainFlate =
    filter === PDFName.of('FlateDecode') && !stream.dict.has(PDFName.of('DecodeParms')) && !stream.transform;
  try {
    if (isPlainFlate) return inflateSync(stream.contents, { maxOutputLength: xmlMaxBytes });
    return decodePDFRawStream(stream).decode();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'TOO_LARGE' : null;
  }
}

/** Whether `startxref` points to a cross-reference table. A truncated file has no `startxref`, or one of an earlier revision. */
function isWhole(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = text.lastIndexOf('startxref');
  if (at === -1) return false;
  const offset = Number(/^startxref\s+(\d{1,10})/.exec(text.toString('latin1', at, at + 40))?.[1] ?? Number.NaN);
  // With bytes before the PDF header, the offset counts from the header or from the start of the file.
  const headerAt = Math.max(0, text.indexOf('%PDF-'));
  return [offset, offset + headerAt].some((start) =>
    /^\s*(?:xref|\d+\s+\d+\s+obj)/.test(text.toString('latin1', start, start + 40)),
  );
}
