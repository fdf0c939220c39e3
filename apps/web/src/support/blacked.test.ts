import { expect, it } from 'vitest';
import { isTooSmall, partBetween, pixelsOf, stepPart } from './blacked.ts';

const rounded = (part: object) =>
  Object.fromEntries(Object.entries(part).map(([name, value]) => [name, Math.round(100 * Number(value)) / 100]));

it('is the part between two corners, in any order and within the picture', () => {
  const part = { left: 0.2, top: 0, width: 0.3, height: 0.4 };
  expect(rounded(partBetween({ x: 0.2, y: 0.4 }, { x: 0.5, y: -1 }))).toEqual(part);
  expect(rounded(partBetween({ x: 0.5, y: -1 }, { x: 0.2, y: 0.4 }))).toEqual(part);
  expect(isTooSmall(partBetween({ x: 0.5, y: 0.5 }, { x: 0.5, y: 0.9 }))).toBe(true);
  expect(isTooSmall(part)).toBe(false);
});

it('moves and grows within the picture', () => {
  const part = { left: 0.8, top: 0.5, width: 0.1, height: 0.1 };
  expect(rounded(stepPart(part, 0.5, -0.1, false))).toEqual({ left: 0.9, top: 0.4, width: 0.1, height: 0.1 });
  expect(rounded(stepPart(part, 0.5, -0.05, true))).toEqual({ left: 0.8, top: 0.5, width: 0.2, height: 0.05 });
  expect(stepPart(part, -1, -1, true)).toMatchObject({ width: 0.004, height: 0.004 });
});

it('covers every pixel that it touches', () => {
  const part = { left: 0.105, top: 0.001, width: 0.101, height: 0.998 };
  expect(pixelsOf(part, { width: 100, height: 10 })).toEqual({ x: 10, y: 0, width: 11, height: 10 });
});
