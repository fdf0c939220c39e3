import { expect, it } from 'vitest';
import { mayTravel, type SecretTarget } from './secret-target.ts';

const stored: SecretTarget = {
  scheme: 'smtp',
  host: 'mail.example.org',
  port: 587,
  account: 'portal',
  encryption: 'starttls',
  verifiesCertificate: true,
  authorities: null,
};

it.each<[Partial<SecretTarget>, boolean]>([
  [{}, true],
  [{ encryption: 'tls' }, true],
  [{ encryption: 'none' }, false],
  [{ scheme: 'smtps' }, false],
  [{ host: 'mail.example.com' }, false],
  [{ port: 25 }, false],
  [{ account: 'Portal' }, false],
  [{ account: null }, false],
  [{ verifiesCertificate: false }, false],
  [{ authorities: 'a' }, false],
])('a secret stored for a verified server may be sent to %j: %s', (change, expected) => {
  expect(mayTravel(stored, { ...stored, ...change })).toBe(expected);
});

it.each<[Partial<SecretTarget>, Partial<SecretTarget>, boolean]>([
  [{ authorities: 'a' }, { authorities: 'a' }, true],
  [{ authorities: 'a' }, { authorities: 'b' }, false],
  [{ authorities: 'a' }, { authorities: null }, false],
  // Any third party on the way could impersonate the stored target already, so no target is less secure.
  [{ verifiesCertificate: false }, { verifiesCertificate: true, authorities: 'a' }, true],
  [{ verifiesCertificate: false, authorities: 'a' }, { verifiesCertificate: false, authorities: 'b' }, true],
  [{ encryption: 'none' }, { encryption: 'starttls', authorities: 'a' }, true],
  [{ encryption: 'none' }, { encryption: 'starttls', verifiesCertificate: false }, true],
  [{ encryption: 'tls', verifiesCertificate: false }, { encryption: 'starttls', verifiesCertificate: true }, false],
])('a secret stored for %j may be sent to %j: %s', (before, after, expected) => {
  expect(mayTravel({ ...stored, ...before }, { ...stored, ...after })).toBe(expected);
});

it('a secret without a target may not be sent to any', () => {
  expect(mayTravel(null, stored)).toBe(false);
  expect(mayTravel(stored, null)).toBe(false);
  expect(mayTravel(null, null)).toBe(true);
});
