export type DerKind =
  | 'certificate'
  | 'csr'
  | 'pkcs7'
  | 'pfx'
  | 'pkcs8'
  | 'encrypted-key'
  | 'pkcs1'
  | 'sec1'
  | 'public-key';

const tag = { integer: 0x02, bitString: 0x03, octetString: 0x04, oid: 0x06, sequence: 0x30, first: 0xa0 };

interface Element {
  tag: number;
  /** Where its content begins, and where it ends; without an end where only its content tells. */
  start: number;
  end: number | null;
}

/** The kinds a DER (or BER) encoding may be, judged by its first bytes alone, likeliest first. */
export function derKindsOf(der: Uint8Array): DerKind[] {
  const outer = elementAt(der, 0);
  if (outer?.tag !== tag.sequence) return [];
  const first = elementAt(der, outer.start);
  const second = first?.end ? elementAt(der, first.end) : null;
  if (!first) return [];
  if (first.tag === tag.oid) return ['pkcs7'];
  if (first.tag === tag.integer) return keyKindsOf(der[first.start] ?? 0, second);
  if (first.tag !== tag.sequence) return [];
  const inner = elementAt(der, first.start);
  if (inner?.tag === tag.oid) return second?.tag === tag.octetString ? ['encrypted-key'] : ['public-key'];
  // A certificate of version 1 begins as a request does: with a number.
  if (inner?.tag === tag.integer) return ['certificate', 'csr'];
  return inner?.tag === tag.first ? ['certificate'] : [];
}

function keyKindsOf(version: number, second: Element | null): DerKind[] {
  if (second?.tag === tag.sequence) return version === 3 ? ['pfx'] : ['pkcs8'];
  if (second?.tag === tag.integer) return ['pkcs1'];
  return second?.tag === tag.octetString ? ['sec1'] : [];
}

/** Whether a certificate is of version 1, which knows no extensions: its first field is the serial number. */
export function isVersion1(certificate: Uint8Array): boolean {
  const outer = elementAt(certificate, 0);
  const body = outer && elementAt(certificate, outer.start);
  return body !== null && elementAt(certificate, body.start)?.tag === tag.integer;
}

/** The encoding without what follows it; null when it ends too early. */
export function wholeOf(der: Uint8Array): Uint8Array | null {
  const outer = elementAt(der, 0);
  if (outer === null) return null;
  if (outer.end === null) return der;
  return outer.end <= der.length ? der.subarray(0, outer.end) : null;
}

function elementAt(der: Uint8Array, at: number): Element | null {
  const [found, first] = [der[at], der[at + 1]];
  if (found === undefined || first === undefined) return null;
  if (first < 0x80) return { tag: found, start: at + 2, end: at + 2 + first };
  const bytes = first - 0x80;
  if (bytes === 0) return { tag: found, start: at + 2, end: null };
  if (bytes > 4) return null;
  const start = at + 2 + bytes;
  const length = der.subarray(at + 2, start).reduce((sum, byte) => sum * 256 + byte, 0);
  return { tag: found, start, end: start + length };
}
