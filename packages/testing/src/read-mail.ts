/*
 * Reads the parts of a mail that a mail program shows: enough MIME for tests (RFC 2045–2047 and 2231: multipart,
 * quoted-printable, base64, encoded words), with limits instead of completeness.
 */

export interface ReadAttachment {
  fileName: string;
  contentType: string;
  bytes: Buffer;
}

export interface ReadMail {
  /** Decoded, by lower-case name; a repeated header keeps its first value. */
  headers: Map<string, string>;
  subject: string;
  text: string;
  html: string | null;
  messageId: string;
  attachments: ReadAttachment[];
}

interface Part {
  headers: Map<string, string>;
  body: string;
}

const maxDepth = 5;
const maxParts = 100;

const decodeText = (bytes: Buffer, charset: string): string => new TextDecoder(charset).decode(bytes);

const unquote = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll(/=[ \t]*\r?\n/g, '')
      .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

const decodeWords = (value: string): string =>
  value
    .replaceAll(/(\?=)\s+(?==\?)/g, '$1')
    .replaceAll(/=\?([^?\s]+)\?([bq])\?([^?\s]*)\?=/gi, (_, charset: string, encoding: string, content: string) => {
      const bytes =
        encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : unquote(content.replaceAll('_', ' '));
      return decodeText(bytes, charset);
    });

/** Splits headers and body. Headers are unfolded but not decoded. The text has one character per byte. */
const splitPart = (source: string): Part => {
  const end = /\r?\n\r?\n/.exec(source);
  const head = end === null ? source : source.slice(0, end.index);
  const body = end === null ? '' : source.slice(end.index + end[0].length);
  const headers = new Map<string, string>();
  for (const line of head.replaceAll(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon > 0 && !headers.has(name)) {
      headers.set(name, line.slice(colon + 1).trim());
    }
  }
  return { headers, body };
};

/** A parameter of a structured header: plain, quoted, or in RFC 2231 continuations. */
const parameter = (value: string, name: string): string | null => {
  const found = [...value.matchAll(/;\s*([\w-]+)(?:\*(\d+))?(\*)?=(?:"((?:[^"\\]|\\.)*)"|([^;\s]*))/g)]
    .filter((match) => match[1]?.toLowerCase() === name)
    .toSorted((a, b) => Number(a[2] ?? 0) - Number(b[2] ?? 0));
  if (found.length === 0) {
    return null;
  }
  const whole = found.map((match) => match[4]?.replaceAll(/\\(.)/g, '$1') ?? match[5] ?? '').join('');
  return found[0]?.[3] === '*' ? decodeURIComponent(whole.replace(/^[^']*'[^']*'/, '')) : decodeWords(whole);
};

const partBytes = ({ headers, body }: Part): Buffer => {
  switch (headers.get('content-transfer-encoding')?.toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable':
      return unquote(body);
    default:
      return Buffer.from(body, 'latin1');
  }
};

const subparts = (body: string, boundary: string): Part[] => {
  const sections = `\n${body}`.split(`\n--${boundary}`).slice(1);
  if (sections.length > maxParts) {
    throw new Error(`The mail has more than ${maxParts} parts.`);
  }
  return sections
    .filter((section) => !section.startsWith('--'))
    .map((section) => splitPart(section.replace(/^[ \t]*\r?\n/, '').replace(/\r$/, '')));
};

const leaves = (part: Part, depth: number): Part[] => {
  const type = part.headers.get('content-type') ?? 'text/plain';
  const boundary = type.toLowerCase().startsWith('multipart/') ? parameter(type, 'boundary') : null;
  if (boundary === null) {
    return [part];
  }
  if (depth === maxDepth) {
    throw new Error(`The mail nests parts deeper than ${maxDepth} levels.`);
  }
  return subparts(part.body, boundary).flatMap((inner) => leaves(inner, depth + 1));
};

const isAttachment = (part: Part): boolean =>
  part.headers.get('content-disposition')?.toLowerCase().startsWith('attachment') ?? false;

const contentType = (part: Part): string =>
  (part.headers.get('content-type') ?? 'text/plain').replace(/;.*/, '').trim();

const partText = (part: Part): string =>
  decodeText(partBytes(part), parameter(part.headers.get('content-type') ?? '', 'charset') ?? 'utf-8').replaceAll(
    '\r\n',
    '\n',
  );

export const readMail = (raw: Buffer): ReadMail => {
  const root = splitPart(raw.toString('latin1'));
  const parts = leaves(root, 0);
  const bodyOf = (type: string) => parts.find((part) => !isAttachment(part) && contentType(part) === type);
  const plain = bodyOf('text/plain');
  const rich = bodyOf('text/html');
  const headers = new Map([...root.headers].map(([name, value]) => [name, decodeWords(value)]));
  return {
    headers,
    subject: headers.get('subject') ?? '',
    text: plain === undefined ? '' : partText(plain),
    html: rich === undefined ? null : partText(rich),
    messageId: headers.get('message-id') ?? '',
    attachments: parts.filter(isAttachment).map((part) => ({
      fileName: parameter(part.headers.get('content-disposition') ?? '', 'filename') ?? '',
      contentType: contentType(part),
      bytes: partBytes(part),
    })),
  };
};
