/** The text of an XML file in the encoding that it declares. */
export function decodeXml(bytes: Uint8Array): string {
  return decoderFor(encodingOf(bytes)).decode(bytes);
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return 'utf-16be';
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 200));
  return /encoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1] ?? 'utf-8';
}

function decoderFor(encoding: string): TextDecoder {
  try {
    // A file that declares UTF-16 in readable letters is not UTF-16.
    return new TextDecoder(/^utf-?16/i.test(encoding) ? encoding.replace(/^utf-?16$/i, 'utf-8') : encoding);
  } catch {
    return new TextDecoder();
  }
}

const indent = '  ';
/** Deeper levels are not indented further: senders are strangers, and a line must not grow with its depth. */
const deepest = 20;
const longestText = 2_000;

interface ReadableXml {
  text: string;
  /** Something was left out. */
  isCut: boolean;
}

/** An XML as text, one element a line and indented by depth. Nothing is interpreted: a faulty XML is shown as it is. */
export function readableXml(xml: string, maxLines = 5_000): ReadableXml {
  const lines: string[] = [];
  let isCut = false;
  let depth = 0;
  /** The element that the line written last opens, if nothing but text followed it. */
  let isOpen = false;
  const write = (text: string) => lines.push(indent.repeat(Math.min(depth, deepest)) + text);
  const append = (text: string) => lines.push(`${lines.pop() ?? ''}${text}`);
  for (const piece of piecesOf(withoutDirections(xml))) {
    if (lines.length >= maxLines) {
      isCut = true;
      break;
    }
    const whole = inOneLine(piece.trim());
    const text = shortened(whole);
    isCut ||= text.length < whole.length;
    if (text === '') continue;
    if (text.startsWith('</')) {
      depth = Math.max(0, depth - 1);
      if (isOpen) append(text);
      else write(text);
      isOpen = false;
    } else if (!text.startsWith('<')) {
      if (isOpen) append(text);
      else write(text);
    } else {
      write(text);
      isOpen = !/^<[!?]|\/>$/.test(text);
      if (isOpen) depth += 1;
    }
  }
  return { text: lines.join('\n'), isCut };
}

/** A tag whose attributes stand on lines of their own becomes one line. */
const inOneLine = (piece: string): string => (/^<[^!?]/.test(piece) ? piece.replaceAll(/\s+/g, ' ') : piece);

/** Embedded files are millions of letters that nobody reads. */
const shortened = (text: string): string => (text.length <= longestText ? text : `${text.slice(0, 200)} […]`);

/** Without the signs that show the following letters in another order than they are written, such as the digits of an amount. */
const withoutDirections = (text: string): string => text.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, '\uFFFD');

/** Tags, comments and the texts between them. Each letter is read once, for any input. */
function* piecesOf(xml: string): Generator<string> {
  let at = 0;
  while (at < xml.length) {
    const end = xml[at] === '<' ? endOfMarkup(xml, at) : indexOrEnd(xml, '<', at);
    yield xml.slice(at, end);
    at = end;
  }
}

const endOfMarkup = (xml: string, start: number): number => {
  for (const [begin, end] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
  ] as const) {
    if (xml.startsWith(begin, start)) return Math.min(xml.length, indexOrEnd(xml, end, start) + end.length);
  }
  let quote = '';
  for (let at = start; at < xml.length; at += 1) {
    const sign = xml[at] ?? '';
    if (quote !== '') quote = sign === quote ? '' : quote;
    else if (sign === '"' || sign === "'") quote = sign;
    else if (sign === '>') return at + 1;
  }
  return xml.length;
};

function indexOrEnd(text: string, wanted: string, from: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 ? text.length : found;
}
