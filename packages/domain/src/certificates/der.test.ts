import { expect, it } from 'vitest';
import { dottedOid, elementOf, elementsIn, numberIn, octetsIn, oidIn } from './der.ts';

it.each([0, 127, 128, 255, 256, 65_535, 65_536])('an element of %d bytes is read as it was written', (size) => {
  const content = new Uint8Array(size).fill(7);
  const [element, ...others] = elementsIn(elementOf(0x04, content));
  expect(element?.content).toEqual(content);
  expect(others).toEqual([]);
});

it('content with an indefinite length ends at its mark, also with nested content', () => {
  const bytes = Uint8Array.from(Buffer.from('3080 2480 0401aa 0000 0403000000 0000 0500'.replaceAll(' ', ''), 'hex'));
  expect(elementsIn(bytes).map(({ tag, content }) => [tag, content.length])).toEqual([
    [0x30, 12],
    [0x05, 0],
  ]);
});

it.each(['30', '3003aabb', '3080', '30800401aa', '3085000000000100'])('%s is not an element', (hex) => {
  expect(() => elementsIn(Buffer.from(hex, 'hex'))).toThrow(RangeError);
});

it.each([
  ['2a864886f70d010702', '1.2.840.113549.1.7.2'],
  ['551d13', '2.5.29.19'],
  ['883703', '2.999.3'],
  ['', '0.0'],
])('%s is %s', (hex, dotted) => {
  expect(dottedOid(Buffer.from(hex, 'hex'))).toBe(dotted);
});

it('an OCTET STRING can be composed of others; other elements are refused', () => {
  const only = (hex: string) => elementsIn(Buffer.from(hex, 'hex'))[0];
  expect(octetsIn(only('2408 0402aabb 2402 0400'.replaceAll(' ', '')))).toEqual(Uint8Array.of(0xaa, 0xbb));
  for (const hex of ['0c01aa', '24030c01aa', '240a24082406240424022400'])
    expect(() => octetsIn(only(hex))).toThrow(RangeError);
  expect(() => octetsIn(undefined)).toThrow(RangeError);
  expect(numberIn(only('02030186a0'))).toBe(100_000);
  expect(() => numberIn(only('0401aa'))).toThrow(RangeError);
  expect(() => oidIn(only('0401aa'))).toThrow(RangeError);
});
