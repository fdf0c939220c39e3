import { describe, expect, it } from 'vitest';
import type { ServerHistory } from '@portal/client/interface';
import { lineOf, sectionsOf, sharesOf } from './history-sections.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 8, minute)).toISOString();
const history = (points: [minute: number, state: 'ok' | 'unknown'][]): ServerHistory => ({
  from: at(0),
  to: at(100),
  stepSec: 300,
  points: points.map(([minute, state]) => ({ at: at(minute), state, failure: state === 'ok' ? null : 'netz' })),
  figures: [],
});
const minutes = (sections: ReturnType<typeof sectionsOf>) =>
  sections.map(({ fromMs, toMs, state }) => [
    (fromMs - Date.parse(at(0))) / 60_000,
    (toMs - Date.parse(at(0))) / 60_000,
    state,
  ]);

describe('the history of a server', () => {
  // Looked at every five minutes, a check holds for 17.
  it('is cut into sections, and says when nobody looked', () => {
    const sections = sectionsOf(
      history([
        [10, 'ok'],
        [20, 'ok'],
        [60, 'unknown'],
        [90, 'ok'],
      ]),
      5,
    );
    expect(minutes(sections)).toEqual([
      [0, 10, null],
      [10, 37, 'ok'],
      [37, 60, null],
      [60, 77, 'unknown'],
      [77, 90, null],
      [90, 100, 'ok'],
    ]);
    expect(Object.fromEntries(sharesOf(sections))).toEqual({ null: 46, ok: 37, unknown: 17 });
  });

  it('without a check is one section', () => {
    expect(minutes(sectionsOf(history([]), 5))).toEqual([[0, 100, null]]);
  });

  it('breaks its lines where nobody looked', () => {
    const line = lineOf(
      history([
        [0, 'ok'],
        [5, 'ok'],
        [60, 'ok'],
      ]),
      [1, null, 3],
      5,
    );
    expect(line.map(([, value]) => value)).toEqual([1, null, null, 3]);
    expect(line).toHaveLength(4);
  });
});
