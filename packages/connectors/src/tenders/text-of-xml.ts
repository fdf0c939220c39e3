import iconv from 'iconv-lite';

/** Decodes bytes by their byte order mark, else the charset from the server, else their XML declaration, else UTF-8. */
export function textOfXml(bytes: Uint8Array, serverCharset: string | null = null): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const declared = /^[^<]{0,3}<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    buffer.toString('latin1', 0, 300),
  )?.[1];
  const encoding = [charsetOfMark(buffer), serverCharset, declared].find((name) => name && iconv.encodingExists(name));
  // iconv removes the byte order mark. Zeros would come from UTF-16 without a mark, which XML does not allow.
  return iconv.decode(buffer, encoding ?? 'utf-8').replaceAll('\0', '');
}

function charsetOfMark(buffer: Buffer): string | null {
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return 'utf-8';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return 'utf-16be';
  return null;
}
