import { describe, expect, it } from 'vitest';
import { canonicalDn, isUnder, isValidDn, parseDn } from './dn.ts';

describe('a distinguished name', () => {
  it.each([
    ['cn=Anna Schmidt,ou=People,dc=example,dc=org', ['Anna Schmidt', 'People', 'example', 'org']],
    [String.raw`cn=Schmidt\, Anna,dc=org`, ['Schmidt, Anna', 'org']],
    [String.raw`cn=\23 one\2C two\+,dc=org`, ['# one, two+', 'org']],
    [String.raw`cn=M\C3\BCller,dc=org`, ['Müller', 'org']],
    ['cn=Müller , dc=org', ['Müller', 'org']],
    ['cn="Schmidt, Anna";dc=org', ['Schmidt, Anna', 'org']],
    [String.raw`cn=\ Anna\ ,dc=org`, [' Anna ', 'org']],
    ['cn=#04024869,dc=org', ['#04024869', 'org']],
    ['2.5.4.3=Anna,OID.0.9.2342.19200300.100.1.25=org', ['Anna', 'org']],
    ['cn=,dc=org', ['', 'org']],
    ['cn=日本 語,dc=org', ['日本 語', 'org']],
  ])('%s is read', (text, values) => {
    expect(parseDn(text)?.map((part) => part[0]?.value)).toEqual(values);
  });

  it('may name an entry by several attributes', () => {
    expect(parseDn('cn=Anna+uid=anna,dc=org')).toEqual([
      [
        { type: 'cn', value: 'Anna' },
        { type: 'uid', value: 'anna' },
      ],
      [{ type: 'dc', value: 'org' }],
    ]);
  });

  it.each([
    'anna',
    '=anna',
    'cn=anna,',
    'cn=anna,,dc=org',
    ',cn=anna',
    'cn=a"b,dc=org',
    'cn="anna,dc=org',
    'cn=a<b,dc=org',
    String.raw`cn=anna\ `.trimEnd(),
    String.raw`cn=anna\C3,dc=org`,
    String.raw`cn=anna\zz,dc=org`,
    'c n=anna',
    'cn=#,dc=org',
    'cn=#0402zz,dc=org',
    'cn=anna\0,dc=org',
    '1.=anna',
  ])('%j is not valid', (text) => {
    expect(parseDn(text)).toBeNull();
    expect(isValidDn(text)).toBe(false);
  });

  it('without parts is the root and not a valid entry', () => {
    expect(parseDn('')).toEqual([]);
    expect(isValidDn('')).toBe(false);
    expect(isValidDn('  ')).toBe(false);
  });
});

describe('the canonical form', () => {
  it.each([
    ['CN=Anna Schmidt,OU=People,DC=Example,DC=org', 'cn=anna schmidt,ou=people,dc=example,dc=org'],
    ['cn=anna   schmidt , ou = People,dc=example,dc=org', 'cn=anna schmidt,ou=people,dc=example,dc=org'],
    ['uid=Anna+CN=Schmidt,dc=org', 'cn=schmidt+uid=anna,dc=org'],
    [String.raw`cn=Schmidt\2c Anna,dc=org`, String.raw`cn=schmidt\, anna,dc=org`],
    ['cn="Schmidt, Anna",dc=org', String.raw`cn=schmidt\, anna,dc=org`],
    [String.raw`cn=M\C3\9Cller,dc=org`, 'cn=müller,dc=org'],
    ['cn=Mu\u0308ller,dc=org', 'cn=müller,dc=org'],
    [String.raw`cn=a\=b,dc=org`, String.raw`cn=a\=b,dc=org`],
    ['Straße', 'straße'],
  ])('of %s', (text, canonical) => {
    expect(canonicalDn(text)).toBe(canonical);
    expect(canonicalDn(canonical)).toBe(canonical);
  });
});

describe('lying below', () => {
  it.each([
    ['cn=anna,ou=People,dc=org', 'ou=people,dc=org', true],
    ['ou=People,dc=org', 'ou=people,dc=org', true],
    ['cn=anna,dc=org', '', true],
    ['cn=anna,ou=More People,dc=org', 'ou=people,dc=org', false],
    ['ou=x ou=people,dc=org', 'ou=people,dc=org', false],
    // A comma and an equals sign inside a value do not separate entries.
    [String.raw`cn=anna\,ou\=people\,dc\=org`, 'ou=people,dc=org', false],
    [String.raw`cn="anna,ou=people,dc=org"`, 'ou=people,dc=org', false],
    ['dc=org', 'ou=people,dc=org', false],
  ])('%s under %s: %s', (dn, base, is) => {
    expect(isUnder(canonicalDn(dn), canonicalDn(base))).toBe(is);
  });
});

it.each([
  ['of parts without end', `cn=a${',a=a'.repeat(2_900_000)}`],
  ['of a part without end', `cn=${'ä'.repeat(5_000_000)}`],
])('a name %s is not valid', (_what, name) => {
  expect(canonicalDn(name)).toBe(name);
  expect(parseDn(name)).toBeNull();
});
