import { expect, test } from 'vitest';
import { typeAhead } from './type-ahead.ts';

const labels = ['Ändern', 'Archivieren', 'Aufteilen', 'Löschen'];

/** Where the focus goes, key by key, with this pause between the keys. */
function walk(keys: string, pauseMs: number): number[] {
  const find = typeAhead();
  let current = 0;
  return [...keys].map((key, index) => {
    const found = find(key, 1_000 + index * pauseMs, labels, current);
    if (found !== -1) current = found;
    return current;
  });
}

test('one letter goes to the next entry that begins with it', () => {
  expect(walk('l', 0)).toEqual([3]);
  expect(walk('aaaa', 100)).toEqual([1, 2, 0, 1]);
});

test('letters typed without a pause are read together', () => {
  expect(walk('au', 100)).toEqual([1, 2]);
  expect(walk('an', 100)).toEqual([1, 0]);
});

test('after a pause, a new word begins', () => {
  expect(walk('al', 2_000)).toEqual([1, 3]);
});

test('accents and case do not matter', () => {
  expect(walk('Ä', 0)).toEqual([1]);
  expect(walk('LO', 50)).toEqual([3, 3]);
});

test('the focus stays if nothing begins with the letters', () => {
  expect(walk('x', 0)).toEqual([0]);
});
