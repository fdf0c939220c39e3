import { expect, it } from 'vitest';
import { elementOf, elementsIn } from './der.ts';
import { algorithmIn, protectionIn } from './protection.ts';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const sequence = (...parts: Uint8Array[]) => elementOf(0x30, ...parts);
const oid = (hex: string) => elementOf(0x06, bytes(hex));
const integer = (hex: string) => elementOf(0x02, bytes(hex));
const octets = elementOf(0x04, bytes('0011223344556677'));
const [pbes2, pbkdf2, rc2] = ['2a864886f70d01050d', '2a864886f70d01050c', '2a864886f70d0302'].map(oid) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

const protectionBy = (algorithm: Uint8Array) => protectionIn(algorithmIn(elementsIn(algorithm)[0]));
const byRc2 = (version: string | null, keyLength?: string) =>
  sequence(
    pbes2,
    sequence(
      sequence(pbkdf2, sequence(octets, integer('0800'), ...(keyLength ? [integer(keyLength)] : []))),
      sequence(rc2, sequence(...(version === null ? [] : [integer(version)]), octets)),
    ),
  );

it.each([
  ['00a0', 40, 5],
  ['78', 64, 8],
  ['3a', 128, 16],
  ['0400', 1_024, 128],
  [null, 32, 4],
])('RC2 of version %s has %d bits', (version, bits, keyBytes) => {
  expect(protectionBy(byRc2(version))).toMatchObject({
    type: 'pbes2',
    cipher: { name: 'rc2', bits },
    derivation: { rounds: 2_048, keyBytes, hash: 'sha1' },
    iv: octets.subarray(2),
  });
});

it('a key has the stated length, up to a limit', () => {
  expect(protectionBy(byRc2('3a', '05'))).toMatchObject({ derivation: { keyBytes: 5 } });
  expect(() => protectionBy(byRc2('3a', '0101'))).toThrow(RangeError);
  expect(() => protectionBy(byRc2('0401'))).toThrow(RangeError);
});

it('an unknown algorithm is returned by its OID', () => {
  const scrypt = sequence(oid('2b06010401da47040b'), sequence());
  expect(protectionBy(sequence(oid('2a0304')))).toEqual({ type: 'unknown', oid: '1.2.3.4' });
  expect(protectionBy(sequence(pbes2, sequence(scrypt, sequence(oid('2a0304')))))).toMatchObject({ oid: '1.2.3.4' });
  const aes = sequence(oid('60864801650304012a'), octets);
  expect(protectionBy(sequence(pbes2, sequence(scrypt, aes)))).toMatchObject({ oid: '1.3.6.1.4.1.11591.4.11' });
});
