import PostalMime from 'postal-mime';
import type { InvoiceError } from '@portal/domain/invoices/invoices';
import { mailMaxDocuments } from '@portal/domain/invoices/limits';
import { readPdf } from './pdf.ts';
import { type Reading, readXml } from './xml.ts';

/** A part of a mail that may be an invoice. */
export interface MailDocument {
  /** The name given by the sender; do not trust it. */
  name: string | null;
  /** `unopened`: a container that may hold an invoice, but is not opened. */
  kind: 'xml' | 'pdf' | 'unopened';
  type: string;
  bytes: Uint8Array;
}

const mailType = 'message/rfc822';
const extensionOf = (name: string | null): string =>
  /\.([a-z0-9]{1,5})$/i.exec((name ?? '').trim())?.[1]?.toLowerCase() ?? '';

/** Archives, Outlook containers and signed or encrypted mails. */
const unopened: Record<string, string> = {
  zip: 'application/zip',
  '7z': 'application/x-7z-compressed',
  rar: 'application/vnd.rar',
  gz: 'application/gzip',
  p7m: 'application/pkcs7-mime',
  eml: mailType,
  msg: 'application/vnd.ms-outlook',
};
const unopenedTypes: ReadonlySet<string> = new Set([
  'application/x-zip-compressed',
  'application/ms-tnef',
  'application/vnd.ms-tnef',
  ...Object.values(unopened),
]);

/**
 * The documents of a mail and of the mails attached to it. Leaves out parts that cannot be an invoice by type, name and content, such as a
 * signature picture. Returns an error if the mail cannot be parsed or has too many documents.
 */
export async function documentsOf(mail: Uint8Array): Promise<MailDocument[] | InvoiceError> {
  const documents: MailDocument[] = [];
  try {
    for (const part of await partsOf(mail)) {
      if (part.mimeType !== mailType) take(part);
      // One level only: a mail attached to an attached mail is not opened.
      else for (const inner of await partsOf(part.bytes)) take(inner);
    }
  } catch {
    return 'DAMAGED';
  }
  return documents.length > mailMaxDocuments ? 'TOO_LARGE' : documents;

  function take({ name, mimeType, bytes }: Part): void {
    const document = documentOf(name, mimeType, bytes);
    if (document) documents.push(document);
  }
}

interface Part {
  name: string | null;
  mimeType: string;
  bytes: Uint8Array;
}

async function partsOf(mail: Uint8Array): Promise<Part[]> {
  const { attachments } = await PostalMime.parse(mail, { forceRfc822Attachments: true, maxNestingDepth: 50 });
  return attachments.map(({ filename, mimeType, content }) => ({
    name: filename,
    mimeType,
    bytes: typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content),
  }));
}

function documentOf(name: string | null, mimeType: string, bytes: Uint8Array): MailDocument | null {
  const extension = extensionOf(name);
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024)).toString('latin1');
  const isPdf = start.includes('%PDF-');
  if (isPdf || extension === 'pdf' || mimeType === 'application/pdf') {
    return { name, kind: 'pdf', type: isPdf ? 'application/pdf' : 'application/octet-stream', bytes };
  }
  const isUntyped = extension === '' || mimeType === 'application/octet-stream';
  const isXml = extension === 'xml' || /^(?:application|text)\/xml$/.test(mimeType);
  if (isXml || (isUntyped && /^(?:\xef\xbb\xbf)?\s*<\?xml\s/.test(start) && !/^(?:svg|x?html?)$/.test(extension))) {
    const type = isMarkup(start) && !isPage(start) ? 'application/xml' : 'application/octet-stream';
    return { name, kind: 'xml', type, bytes };
  }
  if (name?.toLowerCase() === 'winmail.dat') return { name, kind: 'unopened', type: 'application/ms-tnef', bytes };
  const type = unopened[extension] ?? (unopenedTypes.has(mimeType) ? mimeType : undefined);
  return type === undefined ? null : { name, kind: 'unopened', type, bytes };
}

/** Whether it may be XML in any encoding: it begins with `<`, after a byte order mark and blanks (XML 1.0, appendix F). */
const isMarkup = (start: string): boolean =>
  /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*</.test(start.replaceAll('\0', ''));

/** Whether a browser would render it as a page and run its scripts. */
const isPage = (start: string): boolean =>
  /<(?:!doctype\s{1,20})?(?:[a-z]{1,10}:)?(?:html|svg)\b/i.test(start.replaceAll('\0', ''));

/** Reads the invoice data of a document. */
export async function readDocument({ kind, bytes }: Pick<MailDocument, 'kind' | 'bytes'>): Promise<Reading> {
  if (kind === 'unopened') return { format: 'other', data: null, error: 'UNSUPPORTED' };
  return kind === 'pdf' ? readPdf(bytes) : readXml(bytes);
}
