import { array, assert, constantFrom, integer, oneof, property, string, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Email, Username } from '../accounts/accounts.ts';
import { line } from '../text.ts';
import {
  attributesOf,
  type DirectoryEntry,
  fieldSources,
  guidText,
  isSwitchedOff,
  lastingIdOf,
  personOf,
  primaryGroupSid,
  sidText,
} from './person.ts';

/** A directory entry; a Buffer stands for raw bytes. */
const entry = (attributes: Record<string, string | Buffer | string[]>, dn = 'cn=anna,dc=org'): DirectoryEntry => {
  const bytes = (attribute: string): Buffer[] => {
    const found = Object.entries(attributes).find(([name]) => name.toLowerCase() === attribute.toLowerCase())?.[1];
    return found === undefined ? [] : [found].flat().map((value) => Buffer.from(value as string));
  };
  return { dn, firstBytes: (attribute) => bytes(attribute)[0], values: (attribute) => bytes(attribute).map(String) };
};

const standard = fieldSources([
  { ldapAttribute: 'displayName', field: 'displayName' },
  { ldapAttribute: 'mail', field: 'email' },
  { ldapAttribute: 'sAMAccountName', field: 'username' },
]);

const guid = Buffer.from('33221100554477668899aabbccddeeff', 'hex');

describe('the identifier of an entry', () => {
  it('is the objectGUID with its first three groups reversed', () => {
    expect(guidText(guid)).toBe('00112233-4455-6677-8899-aabbccddeeff');
    expect(lastingIdOf(entry({ objectGUID: guid, entryUUID: 'other' }))).toBe('00112233-4455-6677-8899-aabbccddeeff');
  });

  it('is otherwise the entryUUID or the nsUniqueId, in lower case', () => {
    expect(lastingIdOf(entry({ entryUUID: 'ABC-1', nsUniqueId: 'x' }))).toBe('abc-1');
    expect(lastingIdOf(entry({ nsUniqueId: '66446001-1DD211B2' }))).toBe('66446001-1dd211b2');
  });

  it('is null for invalid values and for entries without one', () => {
    expect(lastingIdOf(entry({ objectGUID: 'short', entryUUID: 'a\nb' }))).toBeNull();
    expect(lastingIdOf(entry({}))).toBeNull();
  });
});

describe('a person', () => {
  it('fills an account from the mapped attributes', () => {
    const anna = entry({
      entryUUID: 'id-1',
      uid: 'ANNA',
      mail: 'Anna@Example.ORG',
      displayName: ' Anna Schmidt ',
      givenName: 'Anna',
      sn: 'Schmidt',
    });
    expect(personOf(anna, 'id-1', standard)).toEqual({
      directoryId: 'id-1',
      dn: 'cn=anna,dc=org',
      username: 'anna',
      email: 'anna@example.org',
      hasBadEmail: false,
      displayName: 'Anna Schmidt',
      firstName: 'Anna',
      lastName: 'Schmidt',
    });
  });

  it('uses custom mappings before the defaults, the first with a value', () => {
    const sources = fieldSources([
      { ldapAttribute: 'employeeNumber', field: 'username' },
      { ldapAttribute: 'sAMAccountName', field: 'username' },
    ]);
    expect(personOf(entry({ employeeNumber: '4711', sAMAccountName: 'anna' }), 'id-1', sources).username).toBe('4711');
    expect(personOf(entry({ employeeNumber: ' ', sAMAccountName: 'anna' }), 'id-1', sources).username).toBe('anna');
    expect(personOf(entry({ SAMACCOUNTNAME: 'anna', uid: 'other' }), 'id-1', sources).username).toBe('anna');
    expect(attributesOf(sources)).toEqual(
      expect.arrayContaining(['employeeNumber', 'sAMAccountName', 'uid', 'entryUUID', 'objectGUID']),
    );
  });

  it.each([
    ['Jürgen Müller', 'jürgen müller'],
    ['Ju\u0308rgen', 'jürgen'],
    [' anna ', 'anna'],
    ['an\tna', null],
    ['a'.repeat(129), null],
    ['\u2028', null],
  ])('called %j has the username %j', (uid, username) => {
    expect(personOf(entry({ uid }), 'id-1', standard).username).toBe(username);
  });

  it.each([
    ['anna@example.org', 'anna@example.org', false],
    ['jürgen@example.org', 'jürgen@example.org', false],
    ['anna', null, true],
    ['anna@example.org, berta@example.org', null, true],
    [`${'a'.repeat(250)}@example.org`, null, true],
    ['', null, false],
  ])('with the address %j has the e-mail %j', (mail, email, hasBadEmail) => {
    expect(personOf(entry({ mail }), 'id-1', standard)).toMatchObject({ email, hasBadEmail });
  });

  it('drops a name that is too long or has control characters, and never truncates it', () => {
    expect(personOf(entry({ displayName: 'x'.repeat(201), givenName: 'a\nb' }), 'id-1', standard)).toMatchObject({
      displayName: null,
      firstName: null,
    });
    expect(personOf(entry({ displayName: 'محمد علي' }), 'id-1', standard).displayName).toBe('محمد علي');
  });
});

describe('the fast path around the schemas', () => {
  // Edge cases of the expressions: letters that change in lower case, and characters that are trimmed, composed or refused.
  const characters: string =
    'azZ0.-_@~ \t\n\0\u007f\u00a0\u00a1\u00df\u0130\u017f\u0180\u0308\u1e9e\u2028\u212a\ud800\u{1f642}';
  const unit = constantFrom(...characters);
  const word = (maxLength: number) =>
    string({ unit: constantFrom('a', 'k', 'Z', '7'), minLength: 1, maxLength, size: 'max' });
  /** One word up to a little more than the maximum length, with other characters around it. */
  const lengthy = tuple(
    array(unit, { maxLength: 2 }),
    integer({ min: 1, max: 260 }),
    constantFrom('a', 'A', '\u00e4'),
    array(unit, { maxLength: 2 }),
  ).map(([front, length, letter, end]) => [...front, letter.repeat(length), ...end].join(''));
  const address = tuple(
    array(tuple(word(70), constantFrom('', '.', '-', '_', '+', '..')), { minLength: 1, maxLength: 3 }),
    array(tuple(word(70), constantFrom('.', '-', '..', '')), { minLength: 1, maxLength: 3 }),
    string({ unit: constantFrom('a', 'b', 'Z'), maxLength: 22, size: 'max' }),
  ).map(([local, domain, last]) => `${local.flat().join('')}@${domain.flat().join('')}${last}`);
  // The part before the @ has its own limit.
  const longLocal = integer({ min: 60, max: 68 }).map((length) => `${'a'.repeat(length)}@example.org`);
  const value = oneof(longLocal, string({ unit, maxLength: 12 }), string({ maxLength: 12 }), lengthy, address);

  it('returns what the schemas return', () => {
    const seen = new Set<string>();
    assert(
      property(value, (text) => {
        const isBlank = text.trim() === '';
        const username = isBlank ? null : (Username.safeParse(text).data ?? null);
        const email = isBlank ? null : (Email.safeParse(text).data ?? null);
        const name = isBlank ? null : (line(200).safeParse(text).data ?? null);
        const values = () => [text];
        expect(personOf({ dn: '', values, firstBytes: () => undefined }, 'id-1', standard)).toEqual({
          directoryId: 'id-1',
          dn: '',
          username,
          email,
          hasBadEmail: !isBlank && email === null,
          displayName: name,
          firstName: name,
          lastName: name,
        });
        for (const [what, read] of Object.entries({ username, email, name })) seen.add(`${what} ${read === null}`);
      }),
      { numRuns: 2_000 },
    );
    // Some of each were accepted and some refused.
    expect(seen.size).toBe(6);
  });
});

describe('Active Directory', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const fileTime = (iso: string) => String((BigInt(Date.parse(iso)) + 11_644_473_600_000n) * 10_000n);

  it.each([
    [{ userAccountControl: '512' }, false],
    [{ userAccountControl: '514' }, true],
    [{ userAccountControl: '66050' }, true],
    [{ accountExpires: '0' }, false],
    [{ accountExpires: '9223372036854775807' }, false],
    [{ accountExpires: fileTime('2026-11-21T12:00:00Z') }, true],
    [{ accountExpires: fileTime('2026-11-21T12:00:01Z') }, false],
    [{ accountExpires: 'never' }, false],
    [{}, false],
  ])('treats %j as switched off: %j', (attributes, is) => {
    expect(isSwitchedOff(entry(attributes), now)).toBe(is);
  });

  it('finds the primary group by its number within the domain', () => {
    const sid = Buffer.from('010500000000000515000000112233445566778899aabbcc50040000', 'hex');
    expect(sidText(sid)).toBe('S-1-5-21-1144201745-2289526357-3434850969-1104');
    expect(primaryGroupSid(entry({ objectSid: sid, primaryGroupID: '513' }))).toBe(
      'S-1-5-21-1144201745-2289526357-3434850969-513',
    );
    expect(primaryGroupSid(entry({ primaryGroupID: '513' }))).toBeNull();
    expect(primaryGroupSid(entry({ objectSid: 'rubbish', primaryGroupID: '513' }))).toBeNull();
  });
});
