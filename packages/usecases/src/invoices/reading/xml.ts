import { XMLParser } from 'fast-xml-parser';
import type { InvoiceData, InvoiceError, InvoiceFormat } from '@portal/domain/invoices/invoices';
import { xmlMaxBytes } from '@portal/domain/invoices/limits';
import { ciiGuideline, readCii } from './cii.ts';
import { all, type Node } from './fields.ts';
import { readUbl, ublGuideline } from './ubl.ts';
import { xmlText } from './xml-text.ts';

/** The result for a document: its data, an error, or neither if it contains no invoice. */
export type Reading =
  | { format: InvoiceFormat; data: InvoiceData; error: null }
  | { format: InvoiceFormat; data: null; error: InvoiceError | null };

/** Supported root elements, by namespace and name. */
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

/** Maximum tags of an XML, about 20,000 invoice lines; more would not fit into the memory of the sandbox process. */
const maxTags = 600_000;

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  // Keeps amounts, leading zeros and long numbers unchanged.
  parseTagValue: false,
  parseAttributeValue: false,
  removeNSPrefix: true,
  processEntities: true,
  // Without it, numeric character references are not decoded.
  htmlEntities: true,
});

const refused = (error: InvoiceError): Reading => ({ format: 'other', data: null, error });

/** Reads an invoice from an XML. Refuses a DOCTYPE before parsing, so that no entity can expand or be fetched. */
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

/** Parts allowed before the root element. One combined expression could match them in many ways and backtrack without bounds. */
const prolog = [/\s+/y, /<\?[^]*?\?>/y, /<!--[^]*?-->/y];
const startOfRoot = /<(?:([\w.-]+):)?([\w.-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/?>/y;

/** Name and namespace of the root element; null if the text does not begin like an XML. */
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
