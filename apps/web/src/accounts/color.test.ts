import { expect, it } from 'vitest';
import { colorOf } from './color.ts';

it.each([
  ['#2563eb', '#2563eb'],
  ['2563EB', '#2563eb'],
  ['  #fff ', '#ffffff'],
  ['a1b', '#aa11bb'],
])('%j is %s', (typed, color) => {
  expect(colorOf(typed)).toBe(color);
});

it.each([
  '',
  '#',
  '#12345',
  '#1234567',
  '#12345678',
  '##2563eb',
  'red',
  'rgb(1,2,3)',
  '#２５６３eb',
  '🟦',
  'url(//a)',
  '#fff;color:red',
])('%j is no colour', (typed) => {
  expect(colorOf(typed)).toBeNull();
});
