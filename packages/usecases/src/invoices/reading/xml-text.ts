const byteOrderMarks: [encoding: string, bytes: number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** The encoding declaration is within the first bytes. */
const declarationBytes = 200;

/**
 * Decodes an XML by its byte order mark, else by its zero bytes, else by its declared encoding. If the declaration is wrong, tries UTF-8
 * and then Windows-1252, which decodes any bytes.
 */
export function xmlText(bytes: Uint8Array): string {
  const [encoding] = byteOrderMarks.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte)) ?? [null];
  if (encoding !== null) return new TextDecoder(encoding).decode(bytes);
  if (bytes[0] === 0 && bytes[1] === 0x3c) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes[0] === 0x3c && bytes[1] === 0) return new TextDecoder('utf-16le').decode(bytes);
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, declarationBytes));
  const declared =
    /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(start)?.[1]?.toLowerCase() ?? 'utf-8';
  // One byte a letter, so a declared UTF-16 is wrong.
  const encodingToTry = declared.startsWith('utf-16') ? 'utf-8' : declared;
  return decoded(bytes, encodingToTry) ?? decoded(bytes, 'utf-8') ?? new TextDecoder('windows-1252').decode(bytes);
}

function decoded(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
