import { childrenOf, type Element, elementsIn, octetsIn, oidIn } from './der.ts';

const tag = { boolean: 0x01, integer: 0x02, extensions: 0xa3, attributes: 0xa0, otherName: 0xa0 };
/** UTF8String, PrintableString and IA5String. The latter two are subsets of UTF-8. */
const textTags = [0x0c, 0x13, 0x16];

export const extensionOids = { basicConstraints: '2.5.29.19', alternativeNames: '2.5.29.17' };
const extensionRequest = '1.2.840.113549.1.9.14';

export interface Extension {
  oid: string;
  value: Uint8Array;
  /** The whole extension: OID, critical flag and value. */
  der: Uint8Array;
}

/**
 * The unparsed extensions of a certificate. RFC 5280, 4.1 and 4.2: they are the part of the TBSCertificate with the tag [3]; each has an
 * object identifier, an optional BOOLEAN, and an OCTET STRING with the value. Throws a RangeError if the bytes are not a certificate.
 */
export function extensionsOf(certificate: Uint8Array): Extension[] {
  const [outer] = elementsIn(certificate);
  const [body] = childrenOf(outer);
  const [list] = childrenOf(childrenOf(body).find((part) => part.tag === tag.extensions));
  return childrenOf(list).map(extensionIn);
}

/**
 * The unparsed extensions that a certificate request asks for. RFC 2986, 4.1: attributes are the part of the signed content with the tag
 * [0]; RFC 2985, 5.4.2: one of them is extensionRequest, a SET with one list. Throws a RangeError if the bytes are not a request.
 */
export function requestedExtensionsOf(request: Uint8Array): Extension[] {
  const [outer] = elementsIn(request);
  const [body] = childrenOf(outer);
  const attributes = childrenOf(childrenOf(body).find((part) => part.tag === tag.attributes)).map(childrenOf);
  const [, values] = attributes.find(([type]) => oidIn(type) === extensionRequest) ?? [];
  const [list] = childrenOf(values);
  return childrenOf(list).map(extensionIn);
}

function extensionIn(extension: Element): Extension {
  const [oid, ...others] = childrenOf(extension);
  return { oid: oidIn(oid), value: octetsIn(others.at(-1)), der: extension.whole };
}

export interface BasicConstraints {
  isCa: boolean;
  pathLength: number;
}

/**
 * Whether a certificate can issue others, and the maximum number of authorities between it and the leaf. RFC 5280, 4.2.1.9:
 * SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER (0..MAX) OPTIONAL }. Throws a RangeError for other bytes.
 */
export function basicConstraintsOf(value: Uint8Array): BasicConstraints {
  const [outer] = elementsIn(value);
  const parts = childrenOf(outer);
  const isCa = parts.some((part) => part.tag === tag.boolean && part.content[0] !== 0);
  const length = parts.find((part) => part.tag === tag.integer)?.content;
  return { isCa, pathLength: length?.reduce((sum, byte) => sum * 256 + byte, 0) ?? Infinity };
}

/** The names in a subject alternative name extension. RFC 5280, 4.2.1.6: a SEQUENCE of GeneralName. Throws a RangeError for other bytes. */
export function generalNamesIn(value: Uint8Array): Element[] {
  const [list] = elementsIn(value);
  return childrenOf(list);
}

const otherNameTypes: Record<string, string> = {
  '1.3.6.1.4.1.311.20.2.3': 'UPN',
  '1.3.6.1.5.5.7.8.5': 'XmppAddr',
  '1.3.6.1.5.5.7.8.7': 'SRVName',
  '1.3.6.1.5.5.7.8.8': 'NAIRealm',
  '1.3.6.1.5.5.7.8.9': 'SmtpUTF8Mailbox',
};
const text = new TextDecoder();

/**
 * An otherName: `UPN:a@example.org`, or `otherName:1.2.3` if its type is unknown or its value is not text; null for another kind of name.
 * RFC 5280, 4.2.1.6: otherName is [0] SEQUENCE { type-id OBJECT IDENTIFIER, value [0] EXPLICIT }. The types with a text value are
 * SRVName (RFC 4985, 2), SmtpUTF8Mailbox (RFC 9598, 3), XmppAddr (RFC 6120, 13.7.1.4), NAIRealm (RFC 7585, 2.2) and Microsoft's UPN. Throws
 * a RangeError if it cannot be read.
 */
export function otherNameOf(name: Element): string | null {
  if (name.tag !== tag.otherName) return null;
  const [type, tagged] = childrenOf(name);
  const oid = oidIn(type);
  const label = otherNameTypes[oid];
  const [value] = childrenOf(tagged);
  return label && value && textTags.includes(value.tag) ? `${label}:${text.decode(value.content)}` : `otherName:${oid}`;
}
