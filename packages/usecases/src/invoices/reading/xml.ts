import { XMLParser } from 'fast-xml-parser';
import type { InvoiceData, InvoiceError, InvoiceFormat } from '@portal/domain/invoices/invoices';
import { xmlMaxBytes } from '@portal/domain/invoices/limits';
import { ciiGuideline, readCii } from './cii.ts';
import { all, type Node } from './fields.ts';
import { readUbl, ublGuideline } from './ubl.ts';
import { xmlText } from './xml-text.ts';

/** What became of a document: its data, the reason why there is none, or neither, where it has none. */
export type Reading =
  | { format: InvoiceFormat; data: InvoiceData; error: null }
  | { format: InvoiceFormat; data: null; error: InvoiceError | null };

/** Of the root elements we read, by namespace and name. */
const syntaxes: Record<
  string,
  { format: 'ubl' | 'cii'; read: (root: Node) => InvoiceData; guideline: (root: Node) => string }
> = {
  'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2 Invoice': ubl(),
  'urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2 CreditNote': ubl(),
  'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100 CrossIndustryInvoice': cii('current'),
  'urn:ferd:CrossIndustryDocument:invoice:1p0 CrossIndustryDocument': cii('old'),
};

function ubl() {
  return { format: 'ubl' as const, read: readUbl, guideline: ublGuideline };
}

function cii(version: 'old' | 'current') {
  return {
    format: 'cii' as const,
    read: (root: Node) => readCii(root, version),
    guideline: (root: Node) => ciiGuideline(root, version),
  };
}

/** Tags of an XML that is read, some twenty thousand positions of an invoice; more would not fit into the process that reads it. */
const maxTags = 600_000;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  // Amounts, leading zeros and long numbers stay as they are written.
  parseTagValue: false,
  parseAttributeValue: false,
  removeNSPrefix: true,
  processEntities: true,
  // Without it references by number are left as they stand.
  htmlEntities: true,
});

const refused = (error: InvoiceError): Reading => ({ format: 'other', data: null, error });

/** Reads an invoice out of an XML. One with a DOCTYPE is refused before anything is parsed: nothing of it can unfold or be fetched. */
export function readXml(bytes: Uint8Array): Reading {
  if (bytes.length > xmlMaxBytes) return refused('TOO_LARGE');
  const text = xmlText(bytes);
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) return refused('XML_REFUSED');
  const root = rootOf(text);
  if (root === null || root.name.toLowerCase() === 'html') return refused('XML_REFUSED');
  if (countOf('<', text) > maxTags) return refused('TOO_LARGE');
  let parsed: Node;
  try {
    parsed = parser.parse(text, true) as Node;
  } catch {
    return refused('DAMAGED');
  }
  const syntax = syntaxes[`${root.namespace} ${root.name}`];
  const content = all(parsed, root.name)[0];
  if (!syntax || content === undefined) return { format: 'other', data: null, error: null };
  const isXrechnung = /xrechnung/i.test(syntax.guideline(content));
  return { format: isXrechnung ? 'xrechnung' : syntax.format, data: syntax.read(content), error: null };
}

function countOf(letter: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(letter); at !== -1; at = text.indexOf(letter, at + 1)) count += 1;
  return count;
}

/** What may stand before the root element, each up to its first end: together in one expression they could be split in many ways. */
const prolog = [/\s+/y, /<\?[^]*?\?>/y, /<!--[^]*?-->/y];
const startOfRoot = /<(?:([\w.-]+):)?([\w.-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/?>/y;

/** Name and namespace of the root element; null for what does not begin as an XML. */
function rootOf(text: string): { name: string; namespace: string } | null {
  let at = 0;
  for (let before = -1; before < at;) {
    before = at;
    for (const part of prolog) {
      part.lastIndex = at;
      if (part.test(text)) at = part.lastIndex;
    }
  }
  startOfRoot.lastIndex = at;
  const [, prefix, name, attributes = ''] = startOfRoot.exec(text) ?? [];
  if (name === undefined) return null;
  const declared = [...attributes.matchAll(/\s([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].find(
    ([, attribute]) => attribute === (prefix === undefined ? 'xmlns' : `xmlns:${prefix}`),
  );
  return { name, namespace: (declared?.[2] ?? declared?.[3] ?? '').trim() };
}
