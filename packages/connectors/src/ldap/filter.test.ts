import { BerWriter } from 'ldapts';
import { describe, expect, it } from 'vitest';
import { escapeFilterBytes, escapeFilterValue } from './filter.ts';
import { isValidFilter, parseFilter } from './filter.ts';

const encoded = (filter: string): string => {
  const writer = new BerWriter();
  parseFilter(filter).write(writer);
  return writer.buffer.toString('latin1');
};

describe('isValidFilter', () => {
  it.each([
    '(objectClass=*)',
    '(&(objectClass=inetOrgPerson)(!(uid=admin))(|(mail=*@example.org)(mail=a*b*c)))',
    ' ( & (cn=a) (sn=b) ) ',
    '(userAccountControl:1.2.840.113556.1.4.803:=2)',
    '(:dn:2.4.6.8.10:=Dino)',
    '(o:dn:=Ace Industry)',
    '(2.5.4.3=x)',
    '(userCertificate;binary=*)',
    '(createTimestamp>=20260101000000Z)',
    '(accountExpires<=1)',
    '(cn~=Müller)',
    String.raw`(cn=\28M\c3\bcller\29)`,
    '(description=)',
    '(seeAlso=uid=a,ou=b)',
    '(|(uid=a))',
  ])('accepts %s', (filter) => {
    expect(isValidFilter(filter)).toBe(true);
  });

  it.each([
    '',
    'objectClass=*',
    '(',
    '()',
    '(&)',
    '(!)',
    '(!(a=b)(c=d))',
    '(cn=a',
    '(cn=a))',
    '(cn=a)(cn=b)',
    '(cn=a)x',
    '(cn=(a))',
    '(cn)',
    '(=a)',
    '(c n=a)',
    '(cn:=)x',
    '(:=a)',
    String.raw`(cn=\zz)`,
    String.raw`(cn=a\2)`,
    '(cn>=a*)',
    '(cn=\0)',
    String.raw`(cn=\ff*)`,
    `${'(!'.repeat(60)}(a=b)${')'.repeat(60)}`,
    '(&'.repeat(100_000),
  ])('refuses %j', (filter) => {
    expect(isValidFilter(filter)).toBe(false);
  });
});

describe('escaping', () => {
  it('escapes the special characters of filters but not umlauts', () => {
    expect(escapeFilterValue('Müller (x)*\\\0')).toBe(String.raw`Müller \28x\29\2a\5c\00`);
  });

  it.each([
    '*',
    '*)(uid=*',
    'a)(|(uid=*',
    '\\',
    '\\2a',
    '\0',
    ')(',
    '(',
    'admin)(&)',
    '|',
    '&',
    '!',
    'é*',
    '**',
    '*)(objectClass=*))(|(cn=*',
  ])('keeps %j a value of one comparison', (value) => {
    const filter = encoded(`(uid=${escapeFilterValue(value)})`);
    const bytes = Buffer.from(value);
    expect(Buffer.from(filter, 'latin1')).toEqual(
      Buffer.concat([
        Buffer.from([0xa3, 7 + bytes.length, 0x04, 3]),
        Buffer.from('uid'),
        Buffer.from([0x04, bytes.length]),
        bytes,
      ]),
    );
  });

  it('carries any byte', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    expect(encoded(`(objectGUID=${escapeFilterBytes(bytes)})`)).toContain(bytes.toString('latin1'));
  });

  it('decodes an escaped umlaut', () => {
    expect(encoded(String.raw`(cn=M\c3\bcl*)`)).toBe(encoded('(cn=Mül*)'));
    expect(encoded(String.raw`(cn=\c3\bc)`)).toBe(encoded('(cn=ü)'));
  });
});
