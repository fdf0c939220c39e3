import { type Header, headerAt } from '@portal/domain/certificates/der';

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

/** The possible kinds of a DER (or BER) encoding according to its first bytes, likeliest first. */
export function derKindsOf(der: Uint8Array): DerKind[] {
  const outer = headerAt(der, 0);
  if (outer?.tag !== tag.sequence) return [];
  const first = headerAt(der, outer.start);
  const second = first?.end ? headerAt(der, first.end) : null;
  if (!first) return [];
  if (first.tag === tag.oid) return ['pkcs7'];
  if (first.tag === tag.integer) return keyKindsOf(der[first.start] ?? 0, second);
  if (first.tag !== tag.sequence) return [];
  const inner = headerAt(der, first.start);
  if (inner?.tag === tag.oid) return second?.tag === tag.octetString ? ['encrypted-key'] : ['public-key'];
  // A version 1 certificate begins with a number, like a request.
  if (inner?.tag === tag.integer) return ['certificate', 'csr'];
  return inner?.tag === tag.first ? ['certificate'] : [];
}

function keyKindsOf(version: number, second: Header | null): DerKind[] {
  if (second?.tag === tag.sequence) return version === 3 ? ['pfx'] : ['pkcs8'];
  if (second?.tag === tag.integer) return ['pkcs1'];
  return second?.tag === tag.octetString ? ['sec1'] : [];
}

/** Whether a certificate has version 1, which has no extensions: its first field is the serial number. */
export function isVersion1(certificate: Uint8Array): boolean {
  const outer = headerAt(certificate, 0);
  const body = outer && headerAt(certificate, outer.start);
  return body !== null && headerAt(certificate, body.start)?.tag === tag.integer;
}

/** The encoding without trailing bytes; null if it is truncated. */
export function wholeOf(der: Uint8Array): Uint8Array | null {
  const outer = headerAt(der, 0);
  if (outer === null) return null;
  if (outer.end === null) return der;
  return outer.end <= der.length ? der.subarray(0, outer.end) : null;
}
