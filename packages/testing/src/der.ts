import { elementOf } from '@portal/domain/certificates/der';

/** A DER element of encoded parts. */
export const element = (tag: number, ...parts: Uint8Array[]): Buffer => Buffer.from(elementOf(tag, ...parts));
export const sequence = (...parts: Uint8Array[]): Buffer => element(0x30, ...parts);
export const set = (...parts: Uint8Array[]): Buffer => element(0x31, ...parts);
export const octets = (...parts: Uint8Array[]): Buffer => element(0x04, ...parts);
export const bits = (bytes: Uint8Array): Buffer => element(0x03, Buffer.from([0]), bytes);
export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text));
/** A context-specific tag. */
export const tagged = (number: number, ...parts: Uint8Array[]): Buffer => element(0xa0 + number, ...parts);

/** An INTEGER of 0 or more. */
export function integer(value: number): Buffer {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return element(0x02, Buffer.from(even >= '80' ? `00${even}` : even, 'hex'));
}

/** Encodes `1.2.840.113549`: each number in groups of seven bits, the first two as one. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...others].flatMap((number) => {
    const groups = [number % 128];
    for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
      groups.unshift(0x80 + (rest % 128));
    return groups;
  });
  return element(0x06, Buffer.from(bytes));
}
