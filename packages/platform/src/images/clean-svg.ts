import { XMLParser } from 'fast-xml-parser';

const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

/** Elements that draw; none that runs scripts, animates, links or embeds (SVG 2; Filter Effects 1). */
const elements = words(`
  svg g defs symbol use switch title desc path rect circle ellipse line polyline polygon text tspan image style
  linearGradient radialGradient stop clipPath mask pattern marker filter
  feBlend feColorMatrix feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
  feGaussianBlur feMerge feMergeNode feMorphology feOffset feTile
`);

/** Properties that are allowed both as attributes and in styles. */
const properties = words(`
  alignment-baseline baseline-shift clip-path clip-rule color color-interpolation color-interpolation-filters direction
  display dominant-baseline enable-background fill fill-opacity fill-rule filter flood-color flood-opacity font-family font-size font-stretch
  font-style font-variant font-weight image-rendering isolation letter-spacing lighting-color marker-end marker-mid
  marker-start mask mix-blend-mode opacity overflow paint-order pointer-events shape-rendering stop-color stop-opacity
  stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width
  text-anchor text-decoration text-rendering transform transform-origin vector-effect visibility word-spacing writing-mode
`);

const attributes = words(`
  id class style href viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points pathLength dx dy rotate
  textLength lengthAdjust preserveAspectRatio offset gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits
  maskContentUnits patternUnits patternContentUnits patternTransform markerUnits markerWidth markerHeight refX refY orient
  filterUnits primitiveUnits in in2 result mode operator k1 k2 k3 k4 type values tableValues slope intercept amplitude
  exponent stdDeviation edgeMode radius
`);

/** Functions that values may call; none of them loads resources. */
const functions = words(`
  rgb rgba hsl hsla hwb lab lch oklab oklch color calc matrix translate translateX translateY scale scaleX scaleY rotate
  skewX skewY
`);

const fragment = /^#[\w.:-]+$/;
/** `url(#id)`, optionally quoted, which stays within the file. */
const fragmentUrl = /url\(\s*(["']?)#[\w.:-]+\1\s*\)/g;
const embeddedPicture = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+$/;
// No backslash, angle bracket, at sign, semicolon or brace: with these, text could end the value and start something else.
const valueSigns = /^[\p{L}\p{N}\s.,:%#+*/()'"!_-]*$/u;

/** Maximum elements per file. Drawings have some hundred; the reading time grows with the number. */
const maxElements = 10_000;

/** Maximum elements that a browser would draw, each reference counted: more would only keep the browser busy. */
const maxDrawn = 20_000;

const [lessThan, slash, exclamationMark, questionMark] = [0x3c, 0x2f, 0x21, 0x3f] as const;

interface Element {
  name: string;
  attributes: [name: string, value: string][];
  children: (Element | string)[];
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // Entities that the file declares stay unresolved; the predefined XML entities are decoded below.
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
});

/**
 * Rewrites an SVG from elements, attributes and styles that are known to be harmless; the drawing stays the same. Only this text reaches a
 * browser, so it does not matter where our parser and that of a browser read the original differently. Drops scripts, events,
 * animations, links, foreign content, external resources, comments and declared entities. Null if the file is no SVG or would keep a
 * browser busy.
 */
export function cleanSvg(bytes: Uint8Array): string | null {
  if (countTags(bytes) > maxElements) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const [root, ...others] = (parser.parse(text) as unknown[])
      .map(readNode)
      .filter((node) => typeof node === 'object');
    if (root?.name !== 'svg' || others.length > 0 || drawn(root) > maxDrawn) return null;
    return write({ ...root, attributes: [['xmlns', 'http://www.w3.org/2000/svg'], ...root.attributes] });
  } catch {
    // Not UTF-8, not XML, or nested deeper than any drawing.
    return null;
  }
}

/** Counts start tags anywhere in the text, without end tags, comments and declarations. */
function countTags(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(lessThan); at !== -1; at = bytes.indexOf(lessThan, at + 1)) {
    const next = bytes[at + 1];
    if (next !== slash && next !== exclamationMark && next !== questionMark) count += 1;
  }
  return count;
}

/** Converts a node of the parser; null for an element that is dropped with its content. */
function readNode(node: unknown): Element | string | null {
  const { ':@': given = {}, ...rest } = node as Record<string, unknown>;
  const [[tag, content] = []] = Object.entries(rest);
  if (tag === '#text') return decode(String(content));
  const name = tag?.replace(/^svg:/, '') ?? '';
  if (!elements.has(name) || !Array.isArray(content)) return null;
  const children = content.map(readNode).filter((child) => child !== null);
  return {
    name,
    attributes: cleanAttributes(name, given as Record<string, string>),
    children: name === 'style' ? styleOf(children) : children,
  };
}

/** The cleaned style sheet of a style element; empty if nothing remains. */
function styleOf(children: (Element | string)[]): string[] {
  const sheet = cleanStyleSheet(children.filter((child) => typeof child === 'string').join(''));
  return sheet === '' ? [] : [sheet];
}

/** The allowed attributes of an element, each once: older files have `href` twice, with and without a prefix. */
function cleanAttributes(element: string, given: Record<string, string>): [name: string, value: string][] {
  const kept = new Map<string, string>();
  for (const [prefixed, value] of Object.entries(given)) {
    const name = prefixed.replace(/^xlink:/, '');
    const clean = cleanAttribute(element, name, decode(value));
    if (clean !== null && !kept.has(name)) kept.set(name, clean);
  }
  return [...kept];
}

function cleanAttribute(element: string, name: string, value: string): string | null {
  if (!attributes.has(name) && !properties.has(name)) return null;
  if (name === 'style') return cleanDeclarations(value);
  const isSafe =
    name === 'href' ? fragment.test(value) || (element === 'image' && embeddedPicture.test(value)) : isSafeValue(value);
  return isSafe ? value : null;
}

// All patterns here are linear in the text: half a megabyte of one character must not block the process.

function isSafeValue(value: string): boolean {
  const rest = value.replaceAll(fragmentUrl, ' ').replaceAll(/\s+/g, ' ').replaceAll(' (', '(');
  const outsideStrings = rest.replaceAll(/"[^"']*"|'[^"']*'/g, '');
  const calls = rest.match(/[\p{L}\p{N}_-]+\(?|\(/gu) ?? [];
  return (
    valueSigns.test(rest) &&
    !/["']/.test(outsideStrings) &&
    calls.every((call) => !call.endsWith('(') || functions.has(call.slice(0, -1)))
  );
}

const cleanDeclarations = (css: string): string =>
  css
    .split(';')
    .map((declaration) => /^\s*([a-z-]+)\s*:([^]*)$/.exec(declaration))
    .filter((found) => found !== null)
    .filter(([, property = '', value = '']) => properties.has(property) && isSafeValue(value))
    .map(([, property = '', value = '']) => `${property}:${value.trim()}`)
    .join(';');

/** Keeps plain rules; at-rules are dropped with their content. */
function cleanStyleSheet(css: string): string {
  return withoutComments(css)
    .split('}')
    .map((rule) => rule.split('{'))
    .filter(([selector = '', declarations]) => declarations !== undefined && /^[\w\s.,#>*-]+$/.test(selector))
    .map(([selector = '', declarations = '']) => `${selector.trim()}{${cleanDeclarations(declarations)}}`)
    .join('');
}

const withoutComments = (css: string): string =>
  css
    .split('/*')
    .map((part, index) =>
      index === 0 ? part : part.slice(part.indexOf('*/') === -1 ? part.length : part.indexOf('*/') + 2),
    )
    .join(' ');

/** How many elements a browser draws, counting each reference; Infinity if an element refers to itself. */
function drawn(root: Element): number {
  const byId = new Map<string, Element>();
  const collect = (element: Element) => {
    const id = element.attributes.find(([name]) => name === 'id')?.[1];
    if (id !== undefined) byId.set(id, element);
    for (const child of element.children) if (typeof child === 'object') collect(child);
  };
  collect(root);
  const known = new Map<Element, number>();
  const count = (element: Element): number => {
    const cached = known.get(element);
    if (cached !== undefined) return cached;
    known.set(element, Infinity);
    let sum = 1;
    for (const child of element.children) if (typeof child === 'object') sum += count(child);
    for (const [, value] of element.attributes) {
      for (const [, id = ''] of value.matchAll(/#([\w.:-]+)/g)) {
        const target = byId.get(id);
        if (target) sum += count(target);
      }
    }
    known.set(element, sum);
    return sum;
  };
  return count(root);
}

function write(node: Element | string): string {
  if (typeof node === 'string') return escape(node);
  const { name, attributes: kept, children } = node;
  const start = [name, ...kept.map(([attribute, value]) => `${attribute}="${escape(value)}"`)].join(' ');
  return children.length === 0 ? `<${start}/>` : `<${start}>${children.map(write).join('')}</${name}>`;
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes the predefined and numeric references; all others become empty. */
const decode = (text: string): string =>
  text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (_, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? '';
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10_ffff ? String.fromCodePoint(code) : '';
  });

/** Escapes text for content and attributes; drops characters that XML does not allow. */
const escape = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
