/** An icon named by a page. */
export interface IconLink {
  url: URL;
  /** The larger side in pixels; `any` for scalable drawings; null if the page does not say. */
  size: number | 'any' | null;
  /** Drawn in one color or made to be cropped; other icons look better. */
  isMask: boolean;
}

export interface PageIcons {
  icons: IconLink[];
  manifest: URL | null;
}

/** Links read from one page. */
const maxLinks = 100;

/** The icons and the manifest a page's `link` elements name. Reads broken pages as far as possible, and each character once. */
export function readIconLinks(html: string, pageUrl: URL): PageIcons {
  const found: PageIcons = { icons: [], manifest: null };
  let base = pageUrl;
  for (const { name, attributes } of tagsOf(html)) {
    const href = attributes.get('href');
    if (href === undefined) continue;
    if (name === 'base' && base === pageUrl) base = addressOf(href, pageUrl) ?? base;
    if (name !== 'link') continue;
    const url = addressOf(href, base);
    const rel = (attributes.get('rel') ?? '').toLowerCase().split(/\s+/);
    if (url === null) continue;
    if (rel.includes('manifest')) found.manifest ??= url;
    else if (rel.some((word) => iconWords.has(word)) && found.icons.length < maxLinks) {
      found.icons.push({ url, size: sizeOf(attributes, rel), isMask: rel.includes('mask-icon') });
    }
  }
  return found;
}

const iconWords: ReadonlySet<string> = new Set([
  'icon',
  'apple-touch-icon',
  'apple-touch-icon-precomposed',
  'fluid-icon',
  'mask-icon',
]);

/** Default size of Apple's icons, and their size on its current phones. */
const touchIconSize = 180;

function sizeOf(attributes: Map<string, string>, rel: string[]): IconLink['size'] {
  const isDrawing = attributes.get('type') === 'image/svg+xml' || /\.svg(?:[?#]|$)/i.test(attributes.get('href') ?? '');
  const isTouchIcon = rel.some((word) => word.startsWith('apple-touch-icon'));
  return parseSizes(attributes.get('sizes') ?? '') ?? (isDrawing ? 'any' : isTouchIcon ? touchIconSize : null);
}

/** The largest side in a list such as `16x16 32x32`, or `any`; null if it names neither. */
export function parseSizes(sizes: string): IconLink['size'] {
  if (/(?:^|\s)any(?:\s|$)/i.test(sizes)) return 'any';
  const sides = [...sizes.slice(0, 200).matchAll(/\b(\d{1,5})x(\d{1,5})/gi)].map(([, width, height]) =>
    Math.max(Number(width), Number(height)),
  );
  return sides.length === 0 ? null : Math.max(...sides);
}

/** Resolves an address on a page, which may be relative or contain the icon as a data URL. */
export function addressOf(href: string, base: URL): URL | null {
  const url = URL.parse(href.trim(), base);
  return url && ['http:', 'https:', 'data:'].includes(url.protocol) ? url : null;
}

interface Tag {
  name: string;
  attributes: Map<string, string>;
}

/** Elements whose content is text, even where it looks like tags. */
const textElements = /^(?:script|style|title|textarea|noscript|template|svg)$/;

/** Start tags in order, up to `<body>`. */
function* tagsOf(html: string): Generator<Tag> {
  const reader = new Reader(html);
  while (reader.skipTo('<')) {
    if (reader.take(/<!--/y)) {
      if (!reader.skipTo('-->')) return;
      continue;
    }
    const name = reader.take(/<([a-z][a-z0-9]*)/iy)?.[1]?.toLowerCase();
    if (name === undefined) {
      reader.take(/</y);
      continue;
    }
    if (name === 'body') return;
    const attributes = attributesOf(reader);
    if (attributes === null) return;
    yield { name, attributes };
    if (textElements.test(name) && !reader.skipTo(`</${name}`)) return;
  }
}

function attributesOf(reader: Reader): Map<string, string> | null {
  const attributes = new Map<string, string>();
  for (;;) {
    reader.take(/[\s/]+/y);
    if (reader.take(/>/y)) return attributes;
    const name = reader.take(/[^\s/>=]+/y)?.[0].toLowerCase() ?? reader.take(/=/y)?.[0];
    if (name === undefined) return null;
    const value = reader.take(/\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/y);
    if (!attributes.has(name)) attributes.set(name, decode(value?.[1] ?? value?.[2] ?? value?.[3] ?? ''));
  }
}

/** Reads a text from beginning to end. */
class Reader {
  readonly #text: string;
  readonly #lower: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    // ASCII letters only: lower-casing other alphabets may change the length.
    this.#lower = text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  }

  /** Skips to the next occurrence of this text; false if there is none. */
  skipTo(text: string): boolean {
    const at = this.#lower.indexOf(text, this.#at);
    if (at !== -1) this.#at = at;
    return at !== -1;
  }

  /** Matches a sticky pattern at the current position and moves past the match. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}

const named: Record<string, string> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' };

/** Decodes the character references that occur in addresses. */
const decode = (text: string): string =>
  text.replaceAll(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|quot|apos|lt|gt));?/gi,
    (all, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return named[name.toLowerCase()] ?? all;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10_ffff ? String.fromCodePoint(code) : all;
    },
  );
