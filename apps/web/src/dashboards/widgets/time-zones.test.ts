import { expect, it } from 'vitest';
import { cityOf } from './time-zones.ts';

it('names the city of a time zone', () => {
  expect(cityOf('America/Argentina/Buenos_Aires')).toBe('Buenos Aires');
  expect(cityOf('UTC')).toBe('UTC');
});
