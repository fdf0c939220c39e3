import { describe, expect, it } from 'vitest';
import type { Actor } from '../access.ts';
import {
  checkMayAdminister,
  checkMayAssign,
  checkNewPassword,
  Email,
  normalizeUsername,
  tenantNamedBy,
  Username,
} from './accounts.ts';

const actor = (role: Actor['role'], tenantId = 'ours'): Actor => ({
  id: 'me',
  tenantId,
  username: 'me',
  displayName: null,
  role,
});

describe('a username', () => {
  it.each([
    ['Admin', 'admin'],
    ['MÜLLER', 'müller'],
    ['Mu\u0308ller', 'müller'],
    ['  anna  ', 'anna'],
    ['İ', 'i\u0307'],
    ['O’Neill+test@EXAMPLE', 'o’neill+test@example'],
  ])('%j is stored as %j', (given, stored) => {
    expect(Username.parse(given)).toBe(stored.normalize('NFC'));
    expect(normalizeUsername(given)).toBe(stored.normalize('NFC'));
    expect(normalizeUsername(normalizeUsername(given))).toBe(normalizeUsername(given));
  });

  it.each(['', '   ', 'a\tb', 'a\nb', 'a\u0000b', 'x'.repeat(129), '\ud800', 'a\u2028b'])('%j is refused', (given) => {
    expect(Username.safeParse(given).success).toBe(false);
  });
});

describe('an e-mail address', () => {
  it.each([
    ['Anna.Schmidt@Example.ORG', 'anna.schmidt@example.org'],
    ['jürgen@bücher.example', 'jürgen@bücher.example'],
  ])('%s is stored as %s', (given, stored) => {
    expect(Email.parse(given)).toBe(stored);
  });

  it.each([
    '',
    'anna',
    'anna@',
    '@example.org',
    'a@b\r\nBcc: x@y.example',
    'a b@example.org',
    `${'x'.repeat(250)}@e.org`,
    'a,b@example.org',
    'it@example.org,',
    '<anna@example.org>',
    'anna@example.org;berta@example.org',
  ])('%j is refused', (given) => {
    expect(Email.safeParse(given).success).toBe(false);
  });
});

describe('a new password', () => {
  const account = { username: 'maximilian', email: 'max.mustermann@example.org' };
  const never = () => false;

  it.each([
    ['nine chars', 'abcdefghi', /at least 10/],
    ['129 characters', 'ä'.repeat(129), /at most 128/],
    ['the username', 'Maximilian', /username/],
    ['the e-mail address', 'Max.Mustermann@Example.org', /e-mail/],
    ['broken Unicode', 'abcdefghij\ud800', /Unicode/],
  ])('is refused if it is %s', (_, password, why) => {
    expect(() => checkNewPassword(password, account, never)).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'PASSWORD_POLICY', message: expect.stringMatching(why) }),
    );
  });

  it('is refused if it is common', () => {
    expect(() => checkNewPassword('common-one', account, (password) => password === 'common-one')).toThrow(/common/);
  });

  it.each(['abcdefghij', 'ä'.repeat(128), '😀'.repeat(128), 'with spaces and äöü'])('%s passes', (password) => {
    expect(() => checkNewPassword(password, account, never)).not.toThrow();
  });
});

describe('role rules', () => {
  it.each([
    ['SUPER_ADMIN', 'SUPER_ADMIN', true],
    ['ADMIN', 'SUPER_ADMIN', false],
    ['ADMIN', 'ADMIN', true],
    ['ADMIN', 'USER', true],
  ] as const)('%s may administer and assign %s: %s', (role, target, allowed) => {
    const attempts = [
      () => checkMayAdminister(actor(role), { id: 'x', tenantId: 'ours', role: target }),
      () => checkMayAssign(actor(role), target),
    ];
    for (const attempt of attempts) {
      if (allowed) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(expect.objectContaining({ kind: 'forbidden' }));
    }
  });

  it('let an ADMIN name only their own tenant', () => {
    expect(tenantNamedBy(actor('ADMIN'), undefined)).toBeNull();
    expect(tenantNamedBy(actor('ADMIN'), 'ours')).toBe('ours');
    expect(() => tenantNamedBy(actor('ADMIN'), 'theirs')).toThrow(expect.objectContaining({ kind: 'forbidden' }));
    expect(tenantNamedBy(actor('SUPER_ADMIN'), 'theirs')).toBe('theirs');
  });
});
