/** One attribute of a name, `cn=Anna`: the type as written, the value with its escapes resolved. */
export interface DnAttribute {
  type: string;
  value: string;
}

/** A distinguished name from the entry up to the root; a part of several attributes (`cn=Anna+uid=anna`) keeps them together. */
export type Dn = DnAttribute[][];

/** Far longer than names are; reading one of megabytes would take seconds and more memory than there is. */
const longestName = 16 * 1024;

const descriptor = /^(?:oid\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)$/i;
const hexPair = /^[0-9a-fA-F]{2}$/;
// RFC 4514 section 2.4: what may stand in a value only behind a backslash.
const mustBeEscaped = new Set(['"', '+', ',', ';', '<', '>', '\0']);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a distinguished name (RFC 4514; the quotes and semicolons of RFC 2253 too, as servers still write them).
 * Null for text that is none, or far too long; the empty text is the root.
 */
export function parseDn(text: string): Dn | null {
  if (text.length > longestName) return null;
  const dn: Dn = [];
  let at = 0;

  const skipSpaces = () => {
    while (text[at] === ' ') at += 1;
  };

  /** The UTF-8 bytes written as pairs of hex digits from here on, each pair behind `prefix`. */
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

  /** `#04024869`: the BER encoding of the value, kept as it is written, because only its schema could say what it means. */
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
      // Spaces belong to the value only when something follows them.
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

/** Whether the text names an entry: a distinguished name with at least one part. */
export const isValidDn = (text: string): boolean => {
  const dn = parseDn(text);
  return dn !== null && dn.length > 0;
};

// Letters, digits and what needs no thought, one space at most between them: nine names out of ten.
const simple =
  /^[a-z][a-z0-9-]*=[a-z0-9._@-]+(?: [a-z0-9._@-]+)*(?:,[a-z][a-z0-9-]*=[a-z0-9._@-]+(?: [a-z0-9._@-]+)*)*$/;

/**
 * The form in which two spellings of one name are equal: lower case, NFC, one space for several, escapes where they are needed
 * and in one way, the attributes of a part in order. Servers compare nearly all name attributes without regard to case;
 * who wants to know whether a name is one does so first, this takes any text, and leaves one that is far too long as it is.
 */
export function canonicalDn(text: string): string {
  if (text.length > longestName) return text;
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

/** Whether the entry is `base` or stands below it; both in canonical form. The root has everything below it. */
export const isUnder = (dn: string, base: string): boolean => base === '' || dn === base || dn.endsWith(`,${base}`);
