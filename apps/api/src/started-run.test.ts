import { expect, it } from 'vitest';
import { preferredWait } from './started-run.ts';

it.each([
  [undefined, null],
  ['wait=10', 10],
  ['Wait = "7"', 7],
  ['respond-async, wait=3', 3],
  ['wait=5; foo=bar, wait=9', 5],
  ['wait=0', 0],
  ['wait=3600', 25],
  ['wait=-1', null],
  ['wait=soon', null],
  ['awaits=3', null],
  ['', null],
])('reads the preference %j as %j seconds', (prefer, seconds) => {
  expect(preferredWait({ headers: { prefer } })).toBe(seconds);
});
