import { describe, expect, it } from 'vitest';
import { drawnRows, placeAfter } from './matrix-places.ts';

describe('the drawn rows', () => {
  const view = { rowPx: 36, viewPx: 720, count: 200 };

  it.each([0, 1, 287, 288, 3_000, 6_480, 7_200])('cover what is visible when scrolled by %i', (scrolled) => {
    const { first, end } = drawnRows({ ...view, scrolled });
    expect(first * 36).toBeLessThanOrEqual(Math.min(scrolled, 200 * 36 - 720));
    expect(end * 36).toBeGreaterThanOrEqual(Math.min(scrolled + 720, 200 * 36));
    expect(end - first).toBeLessThanOrEqual(40);
  });

  it('are all rows of a short list', () => {
    expect(drawnRows({ ...view, scrolled: 0, count: 3 })).toEqual({ first: 0, end: 3 });
  });

  it('exist for a list that became shorter than it is scrolled', () => {
    const { first, end } = drawnRows({ ...view, scrolled: 6_000, count: 5 });
    expect([first, end]).toEqual([0, 5]);
  });
});

describe('a key', () => {
  const size = { rows: 200, columns: 8, pageRows: 10 };
  const go = (key: string, isCtrl = false, from = { row: 5, column: 3 }) => {
    const place = placeAfter(key, isCtrl, from, size);
    return place && [place.row, place.column];
  };

  it('moves by one cell, a page, or to an end', () => {
    expect(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].map((key) => go(key))).toEqual([
      [4, 3],
      [6, 3],
      [5, 2],
      [5, 4],
    ]);
    expect([go('PageUp'), go('PageDown'), go('Home'), go('End'), go('Home', true), go('End', true)]).toEqual([
      [0, 3],
      [15, 3],
      [5, 0],
      [5, 7],
      [0, 0],
      [199, 7],
    ]);
  });

  it('stays inside, and other keys mean nothing', () => {
    expect(go('ArrowUp', false, { row: 0, column: 0 })).toEqual([0, 0]);
    expect(go('ArrowRight', false, { row: 199, column: 7 })).toEqual([199, 7]);
    expect([go('Tab'), go('x'), go(' '), go('Enter')]).toEqual([null, null, null, null]);
  });
});
