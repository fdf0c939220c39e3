import { urlOf } from './addresses.ts';

/** The address for an `href`; undefined for everything that is neither http nor https, such as `javascript:`. */
export function safeHref(address: string | null | undefined): string | undefined {
  const url = urlOf(address ?? '');
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined;
}

interface TextPart {
  text: string;
  /** Set if the part is an address to open. */
  href?: string;
}

/** The text in parts, so that its http and https addresses can be links. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const found of text.matchAll(/\bhttps?:\/\/[^\s<>"„“”»«]+/gi)) {
    const address = withoutTail(found[0]);
    const href = safeHref(address);
    if (href === undefined) continue;
    if (found.index > end) parts.push({ text: text.slice(end, found.index) });
    parts.push({ text: address, href });
    end = found.index + address.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}

/** Punctuation at the end belongs to the sentence, and a bracket to the address only if it opens there. */
function withoutTail(address: string): string {
  let rest = address;
  for (;;) {
    const last = rest.at(-1) ?? '';
    const isTail = /[.,;:!?'…*_]/.test(last) || (last === ')' && count(rest, ')') > count(rest, '('));
    if (!isTail && !(last === ']' && count(rest, ']') > count(rest, '['))) return rest;
    rest = rest.slice(0, -1);
  }
}

const count = (text: string, character: string): number => text.split(character).length - 1;
