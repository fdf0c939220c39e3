import { shownLine } from '@portal/domain/text';

/** A parsed XML: elements are objects, repeated elements are arrays, text is unchanged. */
export type Node = string | { [name: string]: Node | undefined } | Node[] | undefined;

/** All elements at the end of a path; any element on the path may be repeated. */
export function all(node: Node, ...path: string[]): Node[] {
  let found: Node[] = Array.isArray(node) ? node : [node];
  for (const name of path) {
    found = found.flatMap((parent): Node[] => {
      if (typeof parent !== 'object' || Array.isArray(parent) || !Object.hasOwn(parent, name)) return [];
      const inner = parent[name];
      return Array.isArray(inner) ? inner : [inner];
    });
  }
  return found;
}

/** The text of an element, with or without attributes. */
export function textOf(node: Node): string | null {
  const text =
    typeof node === 'string' ? node : typeof node === 'object' && !Array.isArray(node) ? node['#text'] : null;
  return typeof text === 'string' ? text : null;
}

export const attributeOf = (node: Node, name: string): string | null => textOf(all(node, `@${name}`)[0]);

/** The first text on one of the paths that is not blank. */
export function first(node: Node, ...paths: string[][]): string | null {
  for (const path of paths) {
    for (const found of all(node, ...path)) {
      const text = shownLine(textOf(found) ?? '');
      if (text !== '') return text;
    }
  }
  return null;
}

/** `2026-11-20`, read from that form with or without a time zone, or from `20261120`; null if it is no date. */
export function dateOf(text: string | null): string | null {
  const [, year = '', month = '', day = ''] =
    /^(\d{4})-(\d{2})-(\d{2})(?:$|[TZ+-])/.exec(text ?? '') ??
    /^(\d{4})(\d{2})(\d{2})(?:\d{4,6})?$/.exec(text ?? '') ??
    [];
  const date = `${year}-${month}-${day}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  const isValid = !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) && Number(year) >= 1900;
  return isValid ? date : null;
}

/** An amount in hundredths, rounded from any number of decimals; null if it is no amount. */
export function centsOf(text: string | null): number | null {
  const [, sign, whole, decimals = ''] = /^([+-]?)(\d{1,13})(?:\.(\d{0,20}))?$/.exec(text ?? '') ?? [];
  if (whole === undefined) return null;
  const hundredths = Number(`${whole}${decimals.slice(0, 2).padEnd(2, '0')}`);
  const cents = hundredths + (Number(decimals[2] ?? 0) >= 5 ? 1 : 0);
  return sign === '-' && cents !== 0 ? -cents : cents;
}

export const withoutBlanks = (text: string | null): string | null => text?.replaceAll(/\s/g, '') ?? null;

/** The first text that looks like an IBAN, without spaces. The same elements may hold other account numbers. */
export const firstIban = (texts: (string | null)[]): string | null =>
  texts
    .map((text) => withoutBlanks(text)?.toUpperCase() ?? '')
    .find((text) => /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) ?? null;

export const currencyOf = (text: string | null): string | null => (/^[A-Z]{3}$/.test(text ?? '') ? text : null);
