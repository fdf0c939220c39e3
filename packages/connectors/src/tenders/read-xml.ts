import { XMLParser } from 'fast-xml-parser';
import { UnreadableNotice } from '@portal/domain/tenders/notice-draft';
import type { XmlElement } from '@portal/domain/tenders/xml-element';
import { textOfXml } from './text-of-xml.ts';

/** Elements take a hundred times their bytes in memory; the largest notices have some tens of thousands. */
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
  // Without it numbered characters stay as they are written.
  htmlEntities: true,
  maxNestedTags: 100,
  // Otherwise the way to each element is written out, for rules nobody here has.
  jPath: false,
});

/** The root of a document, elements by their local names. Throws an UnreadableNotice for what is no well-formed XML or could be a bomb. */
export function readXml(bytes: Uint8Array): XmlElement {
  const text = checkedXml(textOfXml(bytes));
  let nodes: OrderedNode[];
  try {
    nodes = parser.parse(text, true) as OrderedNode[];
  } catch (error) {
    throw new UnreadableNotice(`is no well-formed XML: ${sentenceOf(error)}`);
  }
  const [root, ...others] = nodes.flatMap(elementOf);
  if (!root || others.length > 0) throw new UnreadableNotice('is no XML document with one root.');
  return root;
}

/** The text of a document, refused where reading it could take more than it is worth. A parser never sees a DOCTYPE. */
export function checkedXml(text: string): string {
  if (/<!\s*(?:DOCTYPE|ENTITY)/i.test(text)) throw new UnreadableNotice('has a DOCTYPE, which is not read.');
  let tags = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    tags += 1;
    if (tags > maxTags) throw new UnreadableNotice('has too many elements.');
  }
  return text;
}

/** As the parser gives them: one key is the name, the attributes stand beside it. */
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
