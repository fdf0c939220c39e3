import { XMLParser } from 'fast-xml-parser';
import { UnreadableNotice } from '@portal/domain/tenders/notice-draft';
import type { XmlElement } from '@portal/domain/tenders/xml-element';
import { textOfXml } from './text-of-xml.ts';

/** An element takes a hundred times its bytes in memory; the largest notices have some tens of thousands of elements. */
const maxTags = 200_000;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Needed to decode numeric character references.
  htmlEntities: true,
  maxNestedTags: 100,
  // No rules here need the path of an element, and building it takes time.
  jPath: false,
});

/**
 * The root of a document; elements have their local names. Throws an UnreadableNotice for XML that is not well-formed or could be a bomb.
 */
export function readXml(bytes: Uint8Array): XmlElement {
  const text = checkedXml(textOfXml(bytes));
  let nodes: OrderedNode[];
  try {
    nodes = parser.parse(text, true) as OrderedNode[];
  } catch (error) {
    throw new UnreadableNotice(`is not well-formed XML: ${sentenceOf(error)}`);
  }
  const [root, ...others] = nodes.flatMap(elementOf);
  if (!root || others.length > 0) throw new UnreadableNotice('is not an XML document with one root element.');
  return root;
}

/** Returns the text unchanged, or refuses it if parsing could take too much time or memory. No parser ever gets a DOCTYPE. */
export function checkedXml(text: string): string {
  if (/<!\s*(?:DOCTYPE|ENTITY)/i.test(text)) throw new UnreadableNotice('has a DOCTYPE, which is not allowed.');
  let tags = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    tags += 1;
    if (tags > maxTags) throw new UnreadableNotice('has too many elements.');
  }
  return text;
}

/** The parser’s format: one key is the name of the element, `:@` has its attributes. */
interface OrderedNode {
  [name: string]: unknown;
  ':@'?: Record<string, string>;
  '#text'?: string;
}

function elementOf(node: OrderedNode): XmlElement[] {
  for (const name in node) {
    if (name === ':@' || name === '#text') continue;
    const inner = node[name] as OrderedNode[];
    let text = '';
    const children: XmlElement[] = [];
    for (const child of inner) {
      if (child['#text'] === undefined) children.push(...elementOf(child));
      else text += child['#text'];
    }
    return [{ name, attributes: node[':@'] ?? {}, children, text }];
  }
  return [];
}

const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 200);
