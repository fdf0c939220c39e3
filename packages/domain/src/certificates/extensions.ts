import { type Element, elementsIn, octetsIn, oidIn, within } from './der.ts';

const tag = { boolean: 0x01, integer: 0x02, extensions: 0xa3, attributes: 0xa0, otherName: 0xa0 };
/** PrintableString, UTF8String and IA5String: UTF-8 holds the other two. */
const textTags = [0x0c, 0x13, 0x16];

export const extensionOids = { basicConstraints: '2.5.29.19', alternativeNames: '2.5.29.17' };
const extensionRequest = '1.2.840.113549.1.9.14';

export interface Extension {
  oid: string;
  value: Uint8Array;
  /** Oid, whether it is critical, and value. */
  der: Uint8Array;
}

/**
 * The extensions of a certificate, none of them read. RFC 5280, 4.1 and 4.2: they are the part tagged 3 of what is signed, and each is an
 * object identifier, perhaps a BOOLEAN, and an OCTET STRING with the value. Throws a RangeError when the bytes are no certificate.
 */
export function extensionsOf(certificate: Uint8Array): Extension[] {
  const [outer] = elementsIn(certificate);
  const [body] = within(outer);
  const [list] = within(within(body).find((part) => part.tag === tag.extensions));
  return within(list).map(extensionIn);
}

/**
 * The extensions that a certificate request asks for, none of them read. RFC 2986, 4.1: attributes are the part tagged 0 of what is signed;
 * RFC 2985, 5.4.2: one of them is extensionRequest, a SET with one list. Throws a RangeError when the bytes are no request.
 */
export function requestedExtensionsOf(request: Uint8Array): Extension[] {
  const [outer] = elementsIn(request);
  const [body] = within(outer);
  const attributes = within(within(body).find((part) => part.tag === tag.attributes)).map(within);
  const [, values] = attributes.find(([type]) => oidIn(type) === extensionRequest) ?? [];
  const [list] = within(values);
  return within(list).map(extensionIn);
}

function extensionIn(extension: Element): Extension {
  const [oid, ...others] = within(extension);
  return { oid: oidIn(oid), value: octetsIn(others.at(-1)), der: extension.whole };
}

export interface BasicConstraints {
  isCa: boolean;
  pathLength: number;
}

/**
 * Whether a certificate may issue others, and how many authorities may stand between it and the certificate at the end. RFC 5280, 4.2.1.9:
 * SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER (0..MAX) OPTIONAL }. Throws a RangeError when the bytes are something else.
 */
export function basicConstraintsOf(value: Uint8Array): BasicConstraints {
  const [outer] = elementsIn(value);
  const parts = within(outer);
  const isCa = parts.some((part) => part.tag === tag.boolean && part.content[0] !== 0);
  const length = parts.find((part) => part.tag === tag.integer)?.content;
  return { isCa, pathLength: length?.reduce((sum, byte) => sum * 256 + byte, 0) ?? Infinity };
}

/** The names of a list of alternative names. RFC 5280, 4.2.1.6: a SEQUENCE of GeneralName. Throws a RangeError when the bytes are something else. */
export function generalNamesIn(value: Uint8Array): Element[] {
  const [list] = elementsIn(value);
  return within(list);
}

const otherNameKinds: Record<string, string> = {
  '1.3.6.1.4.1.311.20.2.3': 'UPN',
  '1.3.6.1.5.5.7.8.5': 'XmppAddr',
  '1.3.6.1.5.5.7.8.7': 'SRVName',
  '1.3.6.1.5.5.7.8.8': 'NAIRealm',
  '1.3.6.1.5.5.7.8.9': 'SmtpUTF8Mailbox',
};
const text = new TextDecoder();

/**
 * A name of a kind of its own: `UPN:a@example.org`, or `otherName:1.2.3` where the kind or the text cannot be read; null for a name that is no
 * such one. RFC 5280, 4.2.1.6: otherName is [0] SEQUENCE { type-id OBJECT IDENTIFIER, value [0] EXPLICIT }. The kinds with a text are
 * SRVName (RFC 4985, 2), SmtpUTF8Mailbox (RFC 9598, 3), XmppAddr (RFC 6120, 13.7.1.4), NAIRealm (RFC 7585, 2.2) and Microsoft's UPN. Throws a
 * RangeError when it cannot be read.
 */
export function otherNameOf(name: Element): string | null {
  if (name.tag !== tag.otherName) return null;
  const [type, tagged] = within(name);
  const oid = oidIn(type);
  const kind = otherNameKinds[oid];
  const [value] = within(tagged);
  return kind && value && textTags.includes(value.tag) ? `${kind}:${text.decode(value.content)}` : `otherName:${oid}`;
}
