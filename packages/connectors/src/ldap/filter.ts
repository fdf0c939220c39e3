import {
  AndFilter,
  ApproximateFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  GreaterThanEqualsFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
} from 'ldapts';

// Deeper than real filters, shallow enough for the parsers of servers
const maxDepth = 50;

const name = String.raw`(?:[a-z][a-z0-9-]*|\d+(?:\.\d+)+)(?:;[a-z0-9-]+)*`;
const simpleItem = new RegExp(String.raw`^(${name})(=|>=|<=|~=)(.*)$`, 'is');
const extensibleItem = new RegExp(String.raw`^(${name})?(:dn)?(?::(${name}))?:=(.*)$`, 'is');

/** Whether the text is a search filter (RFC 4515) with its outermost parentheses. */
export function isValidFilter(text: string): boolean {
  try {
    parseFilter(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses a search filter. Throws a SyntaxError for anything else. Replaces the parser of ldapts 9.2, which decodes each escaped byte as
 * a character ("carries any byte" and "decodes an escaped umlaut" in filter.test.ts) and refuses attribute options and OIDs
 * ("isValidFilter" there).
 */
export function parseFilter(text: string): Filter {
  let at = 0;

  const skipSpace = (): void => {
    while (text[at] === ' ') at += 1;
  };
  const expect = (character: string): void => {
    if (text[at] !== character) throw new SyntaxError(`The search filter lacks a ${character}`);
    at += 1;
  };

  const several = (depth: number): Filter[] => {
    const filters: Filter[] = [];
    for (skipSpace(); text[at] === '('; skipSpace()) filters.push(one(depth));
    return filters;
  };

  const one = (depth: number): Filter => {
    if (depth > maxDepth) throw new SyntaxError('The search filter is nested too deeply');
    expect('(');
    skipSpace();
    const filter = component(depth + 1);
    expect(')');
    return filter;
  };

  const component = (depth: number): Filter => {
    const sign = text[at] ?? '';
    if (sign === '&' || sign === '|') {
      at += 1;
      const filters = several(depth);
      if (filters.length === 0) throw new SyntaxError('The search filter has an empty combination');
      return sign === '&' ? new AndFilter({ filters }) : new OrFilter({ filters });
    }
    if (sign === '!') {
      at += 1;
      skipSpace();
      const filter = new NotFilter({ filter: one(depth) });
      skipSpace();
      return filter;
    }
    const start = at;
    while (at < text.length && text[at] !== ')' && text[at] !== '(') at += 1;
    return item(text.slice(start, at));
  };

  skipSpace();
  const filter = one(0);
  skipSpace();
  if (at < text.length) throw new SyntaxError('Text after the end of the search filter');
  return filter;
}

function item(text: string): Filter {
  const simple = simpleItem.exec(text);
  if (simple !== null) {
    const [, attribute = '', operator, value = ''] = simple;
    switch (operator) {
      case '>=':
        return new GreaterThanEqualsFilter({ attribute, value: textValue(value) });
      case '<=':
        return new LessThanEqualsFilter({ attribute, value: textValue(value) });
      case '~=':
        return new ApproximateFilter({ attribute, value: textValue(value) });
      default:
        return equality(attribute, value);
    }
  }
  const [, matchType, isDn, rule, value = ''] = extensibleItem.exec(text) ?? [];
  if (matchType === undefined && rule === undefined) throw new SyntaxError('The search filter has an unreadable part');
  return new ExtensibleFilter({
    dnAttributes: isDn !== undefined,
    value: textValue(value),
    ...(matchType === undefined ? {} : { matchType }),
    ...(rule === undefined ? {} : { rule }),
  });
}

function equality(attribute: string, value: string): Filter {
  if (value === '*') return new PresenceFilter({ attribute });
  const parts = value.split('*');
  if (parts.length === 1) return new EqualityFilter({ attribute, value: bytesValue(value) });
  const [initial = '', ...rest] = parts.map(textValue);
  const final = rest.pop() ?? '';
  const any = rest.filter((part) => part !== '');
  if (initial === '' && final === '' && any.length === 0) return new PresenceFilter({ attribute });
  return new SubstringFilter({ attribute, initial, any, final });
}

/** Unescapes a value; `\hh` stands for a byte. */
function bytesValue(value: string): Buffer {
  if (/\0|\*|\\(?![0-9a-f]{2})/i.test(value)) throw new SyntaxError('A value in the search filter is not escaped');
  return Buffer.concat(
    value
      .split(/(\\[0-9a-f]{2})/i)
      .map((part) => (part.startsWith('\\') ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  );
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textValue(value: string): string {
  try {
    return utf8.decode(bytesValue(value));
  } catch (error) {
    throw new SyntaxError('A value in the search filter is not text', { cause: error });
  }
}

/** Escapes a value for a filter, so that the server reads it literally (RFC 4515 section 3). */
export const escapeFilterValue = (value: string): string =>
  value.replaceAll(/[*()\\\0]/g, (character) => escapeFilterBytes(Buffer.from(character)));

/** Escapes a binary value, such as an objectGUID, for a filter. */
export const escapeFilterBytes = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
