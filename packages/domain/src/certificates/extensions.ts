import { dottedOid, elementsIn } from './der.ts';

const tag = { boolean: 0x01, integer: 0x02, extensions: 0xa3 };

export const extensionOids = { basicConstraints: '2.5.29.19' };

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
  const [body] = outer ? elementsIn(outer.content) : [];
  const tagged = body && elementsIn(body.content).find((part) => part.tag === tag.extensions);
  const [list] = tagged ? elementsIn(tagged.content) : [];
  return (list ? elementsIn(list.content) : []).map(({ content, whole }) => {
    const [oid, ...others] = elementsIn(content);
    return { oid: oid ? dottedOid(oid.content) : '', value: others.at(-1)?.content ?? new Uint8Array(), der: whole };
  });
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
  const parts = outer ? elementsIn(outer.content) : [];
  const isCa = parts.some((part) => part.tag === tag.boolean && part.content[0] !== 0);
  const length = parts.find((part) => part.tag === tag.integer)?.content;
  return { isCa, pathLength: length?.reduce((sum, byte) => sum * 256 + byte, 0) ?? Infinity };
}
