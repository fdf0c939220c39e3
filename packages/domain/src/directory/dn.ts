/** One attribute of a name, such as `cn=Anna`: the type as written, the value unescaped. */
export interface DnAttribute {
  type: string;
  value: string;
}

/** A distinguished name, from the entry up to the root. Each part holds one or more attributes (`cn=Anna+uid=anna`). */
export type Dn = DnAttribute[][];

/** Far longer than real names. Parsing a name of megabytes would take seconds and exhaust the memory. */
const maxNameLength = 16 * 1024;

const descriptor = /^(?:oid\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)$/i;
const hexPair = /^[0-9a-fA-F]{2}$/;
// RFC 4514 section 2.4: these characters need a backslash.
const mustBeEscaped = new Set(['"', '+', ',', ';', '<', '>', '\0']);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a distinguished name (RFC 4514). Also accepts the quotes and semicolons of RFC 2253, which servers still write.
 * Returns null for invalid or far too long text. An empty text is the root.
 */
export function parseDn(text: string): Dn | null {
  if (text.length > maxNameLength) return null;
  const dn: Dn = [];
  let at = 0;

  const skipSpaces = () => {
    while (text[at] === ' ') at += 1;
  };

  /** Reads UTF-8 bytes written as pairs of hex digits, each after `prefix`. */
  const hexBytes = (prefix: string): string | null => {
    const bytes: number[] = [];
    while (text.startsWith(prefix, at) && hexPair.test(text.slice(at + prefix.length, at + prefix.length + 2))) {
      bytes.push(Number.parseInt(text.slice(at + prefix.length, at + prefix.length + 2), 16));
      at += prefix.length + 2;
    }
    try {
      return decoder.decode(Uint8Array.from(bytes));
    } catch {
      return null;
    }
  };

  const escaped = (): string | null => {
    if (hexPair.test(text.slice(at + 1, at + 3))) return hexBytes('\\');
    const character = text[at + 1];
    if (character === undefined || !' "#+,;<=>\\'.includes(character)) return null;
    at += 2;
    return character;
  };

  const quoted = (): string | null => {
    let value = '';
    at += 1;
    while (text[at] !== '"') {
      const part = text[at] === '\\' ? escaped() : (text[at++] ?? null);
      if (part === null || part === '\0') return null;
      value += part;
    }
    at += 1;
    return value;
  };

  /** Reads a BER-encoded value such as `#04024869` and leaves it encoded, because decoding needs its schema. */
  const encoded = (): string | null => {
    const start = at;
    at += 1;
    while (hexPair.test(text.slice(at, at + 2))) at += 2;
    return at > start + 1 ? text.slice(start, at).toLowerCase() : null;
  };

  const plain = (): string | null => {
    let value = '';
    let spaces = '';
    while (at < text.length && !',;+'.includes(text[at] ?? '')) {
      if (text[at] === '\\') {
        const part = escaped();
        if (part === null) return null;
        value += spaces + part;
        spaces = '';
        continue;
      }
      const character = text[at++] ?? '';
      if (mustBeEscaped.has(character)) return null;
      // Trailing spaces are not part of the value.
      if (character === ' ') spaces += ' ';
      else {
        value += spaces + character;
        spaces = '';
      }
    }
    return value;
  };

  skipSpaces();
  if (at === text.length) return dn;
  let part: DnAttribute[] = [];
  for (;;) {
    const equals = text.indexOf('=', at);
    const type = descriptor.exec(text.slice(at, Math.max(at, equals)).trim())?.[1];
    if (type === undefined) return null;
    at = equals + 1;
    skipSpaces();
    const value = text[at] === '"' ? quoted() : text[at] === '#' ? encoded() : plain();
    if (value === null) return null;
    part.push({ type, value });
    skipSpaces();
    const separator = text[at];
    if (separator === '+') {
      at += 1;
      continue;
    }
    dn.push(part);
    part = [];
    if (separator === undefined) return dn;
    if (separator !== ',' && separator !== ';') return null;
    at += 1;
  }
}

/** Whether the text is a distinguished name with at least one part. */
export const isValidDn = (text: string): boolean => {
  const dn = parseDn(text);
  return dn !== null && dn.length > 0;
};

// Fast path for nine names out of ten: letters, digits and harmless signs, single spaces between them.
const simple =
  /^[a-z][a-z0-9-]*=[a-z0-9._@-]+(?: [a-z0-9._@-]+)*(?:,[a-z][a-z0-9-]*=[a-z0-9._@-]+(?: [a-z0-9._@-]+)*)*$/;

/**
 * Returns a form that is equal for all spellings of one name: lower case, NFC, single spaces, uniform escapes, sorted attributes in
 * each part. Servers ignore case in nearly all name attributes. Accepts any text, so callers validate names first. Returns far too
 * long text unchanged.
 */
export function canonicalDn(text: string): string {
  if (text.length > maxNameLength) return text;
  const lower = text.toLowerCase();
  if (simple.test(lower)) return lower;
  const dn = parseDn(text);
  return dn === null ? fold(text) : dn.map(canonicalPart).join(',');
}

const fold = (value: string): string =>
  value.normalize('NFKC').toLowerCase().normalize('NFC').replaceAll(/\s+/g, ' ').trim();

const canonicalPart = (part: DnAttribute[]): string =>
  part
    .map(({ type, value }) => `${type.toLowerCase()}=${fold(value).replaceAll(/[\\,+;"<>=#]/g, String.raw`\$&`)}`)
    .toSorted()
    .join('+');

/** Whether the entry is `base` or lies below it; both in canonical form. Every entry lies below the root. */
export const isUnder = (dn: string, base: string): boolean => base === '' || dn === base || dn.endsWith(`,${base}`);
