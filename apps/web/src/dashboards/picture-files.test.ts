import { expect, it } from 'vitest';
import { isHeic, isVector } from './picture-files.ts';

it.each([
  ['IMG_0001.HEIC', '', true],
  ['IMG_0001.heif', '', true],
  ['photo', 'image/heic', true],
  ['photo', 'image/heif-sequence', true],
  ['photo.heic.jpg', 'image/jpeg', false],
  ['theic', '', false],
])('%s (%s) is HEIC: %s', (name, type, expected) => {
  expect(isHeic({ name, type })).toBe(expected);
});

it.each([
  ['logo.svg', 'image/svg+xml', true],
  ['logo.SVGZ', '', true],
  ['logo', 'image/svg+xml', true],
  ['logo.svg.png', 'image/png', false],
])('%s (%s) is a vector image: %s', (name, type, expected) => {
  expect(isVector({ name, type })).toBe(expected);
});
