import { expect, it } from 'vitest';
import { addressOf } from './address.ts';

it('has the parameters that are not empty', () => {
  expect(addressOf('/app/x', {})).toBe('/app/x');
  expect(addressOf('/app/x', { search: '', from: undefined, to: null })).toBe('/app/x');
  expect(addressOf('/app/x', { search: 'Müller & Co', state: 'active' })).toBe(
    '/app/x?search=M%C3%BCller+%26+Co&state=active',
  );
});
