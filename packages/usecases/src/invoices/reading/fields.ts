import { shownLine } from '@portal/domain/text';

/** What an XML holds, parsed: elements as objects, those that come several times as lists, text as it stands. */
export type Node = string | { [name: string]: Node | undefined } | Node[] | undefined;

/** Every element at the end of a path, whichever of the elements on it come several times. */
export function all(node: Node, ...path: string[]): Node[] {
  let found: Node[] = Array.isArray(node) ? node : [node];
  for (const name of path) {
    found = found.flatMap((one): Node[] => {
      if (typeof one !== 'object' || Array.isArray(one) || !Object.hasOwn(one, name)) return [];
      const inner = one[name];
      return Array.isArray(inner) ? inner : [inner];
    });
  }
  return found;
}

/** The text of an element, whether or not it has attributes. */
export function textOf(node: Node): string | null {
  const text =
    typeof node === 'string' ? node : typeof node === 'object' && !Array.isArray(node) ? node['#text'] : null;
  return typeof text === 'string' ? text : null;
}

export const attributeOf = (node: Node, name: string): string | null => textOf(all(node, `@${name}`)[0]);

/** The first text at the end of one of the paths that says something. */
export function first(node: Node, ...paths: string[][]): string | null {
  for (const path of paths) {
    for (const found of all(node, ...path)) {
      const text = shownLine(textOf(found) ?? '');
      if (text !== '') return text;
    }
  }
  return null;
}

/** `2026-11-20` of such a date, with a time zone or without, or of `20261120`; null for what is no date. */
export function dateOf(text: string | null): string | null {
  const [, year = '', month = '', day = ''] =
    /^(\d{4})-(\d{2})-(\d{2})(?:$|[TZ+-])/.exec(text ?? '') ??
    /^(\d{4})(\d{2})(\d{2})(?:\d{4,6})?$/.exec(text ?? '') ??
    [];
  const date = `${year}-${month}-${day}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  const isOne = !Number.isNaN(time) && new Date(time).toISOString().startsWith(date) && Number(year) >= 1900;
  return isOne ? date : null;
}

/** Hundredths of an amount as documents write it, whatever its decimals; null for what is no amount. */
export function centsOf(text: string | null): number | null {
  const [, sign, whole, decimals = ''] = /^([+-]?)(\d{1,13})(?:\.(\d{0,20}))?$/.exec(text ?? '') ?? [];
  if (whole === undefined) return null;
  const hundredths = Number(`${whole}${decimals.slice(0, 2).padEnd(2, '0')}`);
  const cents = hundredths + (Number(decimals[2] ?? 0) >= 5 ? 1 : 0);
  return sign === '-' && cents !== 0 ? -cents : cents;
}

export const withoutBlanks = (text: string | null): string | null => text?.replaceAll(/\s/g, '') ?? null;

/** The first of these texts that has the form of an IBAN, without blanks: other accounts stand in the same place. */
export const firstIban = (texts: (string | null)[]): string | null =>
  texts
    .map((text) => withoutBlanks(text)?.toUpperCase() ?? '')
    .find((text) => /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(text)) ?? null;

export const currencyOf = (text: string | null): string | null => (/^[A-Z]{3}$/.test(text ?? '') ? text : null);
