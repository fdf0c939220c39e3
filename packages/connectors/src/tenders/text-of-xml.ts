import iconv from 'iconv-lite';

/** Bytes as text: by the mark at their beginning, what a server said of them, what they say of themselves, else UTF-8. */
export function textOfXml(bytes: Uint8Array, said: string | null = null): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const declared = /^[^<]{0,3}<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    buffer.toString('latin1', 0, 300),
  )?.[1];
  const encoding = [markOf(buffer), said, declared].find((name) => name && iconv.encodingExists(name));
  // With a byte order mark iconv takes it off; a document of zeros would be UTF-16 without one, which XML does not know.
  return iconv.decode(buffer, encoding ?? 'utf-8').replaceAll('\0', '');
}

function markOf(buffer: Buffer): string | null {
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return 'utf-8';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return 'utf-16be';
  return null;
}
