import type { ReadDocument } from './read-mail.ts';

/** Documents of a mail that form one invoice; its data is read from the first one. */
export type DocumentGroup = [ReadDocument, ...ReadDocument[]];

// Shorter numbers occur in too many names.
const minNumberLength = 4;

/**
 * Groups a PDF with the XML of the same mail and number. A PDF without data matches by its name: it contains the number, or equals the
 * name of the XML.
 */
export function groupDocuments(documents: ReadDocument[]): DocumentGroup[] {
  const xmls = documents.filter(({ kind, reading }) => kind === 'xml' && reading.data !== null);
  const groups = new Map(xmls.map((xml): [ReadDocument, DocumentGroup] => [xml, [xml]]));
  for (const document of documents) {
    if (groups.has(document)) continue;
    const leading = document.kind === 'pdf' && xmls.find((xml) => isSameInvoice(xml, document));
    if (leading) groups.get(leading)?.push(document);
    else groups.set(document, [document]);
  }
  return [...groups.values()];
}

function isSameInvoice(xml: ReadDocument, pdf: ReadDocument): boolean {
  const number = plain(xml.reading.data?.number);
  if (pdf.reading.data !== null) return number !== '' && plain(pdf.reading.data.number) === number;
  if (pdf.reading.error !== null) return false;
  const name = stem(pdf.name);
  return name !== '' && (name === stem(xml.name) || (number.length >= minNumberLength && name.includes(number)));
}

const plain = (text: string | null | undefined): string => (text ?? '').toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
const stem = (name: string | null): string => plain((name ?? '').replace(/\.[a-z0-9]{1,5}$/i, ''));
