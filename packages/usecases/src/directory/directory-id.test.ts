import { expect, it } from 'vitest';
import { directoryIdOf } from './directory-id.ts';

const entry = (dn: string, entryUUID: string[] = []) => ({
  dn,
  values: (attribute: string) => (attribute === 'entryUUID' ? entryUUID : []),
  firstBytes: () => undefined,
});

it('is the permanent id, or without one the name in any spelling', () => {
  expect(directoryIdOf(entry('cn=anna,dc=org', ['ABC-1']))).toBe('abc-1');
  const byName = directoryIdOf(entry('CN=Anna, DC=org'));
  expect(byName).toBe('dn:ab59016d2a7dc6d004ea6abe6e77b4445ccc570e645bd740fecc48fd644916d0');
  expect(byName).toBe(directoryIdOf(entry('cn=anna,dc=org', ['a\nb'])));
  expect(byName).not.toBe(directoryIdOf(entry('cn=berta,dc=org')));
});
