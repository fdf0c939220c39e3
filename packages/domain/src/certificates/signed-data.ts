import { childrenOf, elementOf, elementsIn } from './der.ts';

const tag = { integer: 0x02, oid: 0x06, sequence: 0x30, set: 0x31, certificates: 0xa0, lists: 0xa1, content: 0xa0 };
/** 1.2.840.113549.1.7.1 and 1.2.840.113549.1.7.2 */
const data = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01];
const signedData = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02];

export interface SignedDataContent {
  /** Each in DER. */
  certificates: Uint8Array[];
  /** Whether it has other contents, such as revocation lists. */
  hasOthers: boolean;
}

/**
 * The certificates of a PKCS#7 file; null if it is not SignedData. RFC 5652, 5.1: SignedData has the certificates in a set with the tag [0]
 * and revocation lists in a set with the tag [1]. A SEQUENCE in the set is a certificate; tagged elements are other things (10.2.2). Throws
 * a RangeError if the bytes are not a PKCS#7 file.
 */
export function certificatesInSignedData(der: Uint8Array): SignedDataContent | null {
  const [outer] = elementsIn(der);
  const [type, content] = childrenOf(outer);
  if (
    type?.tag !== tag.oid ||
    content?.tag !== tag.content ||
    !signedData.every((byte, at) => type.content[at] === byte)
  )
    return null;
  const [body] = childrenOf(content);
  const parts = childrenOf(body);
  const choices = childrenOf(parts.find((part) => part.tag === tag.certificates));
  const certificates = choices.filter((choice) => choice.tag === tag.sequence);
  return {
    certificates: certificates.map(({ whole }) => whole),
    hasOthers: choices.length > certificates.length || parts.some((part) => part.tag === tag.lists),
  };
}

/** Certificates as a PKCS#7 file without a signer. RFC 5652, 5.1: "degenerate" signed data, for distributing certificates. */
export const signedDataOf = (certificates: Uint8Array[]): Uint8Array =>
  elementOf(
    tag.sequence,
    elementOf(tag.oid, Uint8Array.from(signedData)),
    elementOf(
      tag.content,
      elementOf(
        tag.sequence,
        elementOf(tag.integer, Uint8Array.of(1)),
        elementOf(tag.set),
        elementOf(tag.sequence, elementOf(tag.oid, Uint8Array.from(data))),
        elementOf(tag.certificates, ...certificates),
        elementOf(tag.set),
      ),
    ),
  );
