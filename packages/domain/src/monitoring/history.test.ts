import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '../time.ts';
import { cpuPercent, highestOf, historyOf, historyWindow, storedFigures } from './history.ts';

const to = new Date('2026-11-20T12:34:56.000Z');
const before = (ms: number) => new Date(to.getTime() - ms);

describe('the window of a history', () => {
  it.each([
    [HOUR, 300],
    [DAY, 300],
    [62 * HOUR, 300],
    [62 * HOUR + 1, 600],
    [7 * DAY, 900],
    [10 * DAY, 1_200],
    [14 * DAY, 1_800],
    [16 * DAY, 3_600],
    [31 * DAY, 3_600],
  ])('of %d ms has steps of %d s and begins with a whole one', (length, stepSec) => {
    const window = historyWindow({ from: before(length), to });
    expect(window.stepSec).toBe(stepSec);
    expect(window.from.getTime() % (stepSec * 1_000)).toBe(0);
    expect(before(length).getTime() - window.from.getTime()).toBeLessThan(stepSec * 1_000);
    expect(length / stepSec / 1_000).toBeLessThanOrEqual(744);
  });

  it('is the day before its end, and ends now', () => {
    expect(historyWindow({ to })).toEqual({ from: new Date('2026-11-19T12:30:00.000Z'), to, stepSec: 300 });
    const last = historyWindow({ from: new Date(Date.now() - HOUR) });
    expect(Date.now() - last.to.getTime()).toBeLessThan(MINUTE);
  });

  it.each([
    ['from', { from: new Date('1999-12-31T23:59:59Z'), to: new Date('2000-01-02') }],
    ['to', { from: new Date('2199-12-31'), to: new Date('2200-01-01') }],
    ['to', { from: to, to }],
    ['to', { from: before(31 * DAY + 1), to }],
  ])('is refused for its %s', (path, query) => {
    expect(() => historyWindow(query)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED', details: [expect.objectContaining({ path })] }),
    );
  });
});

it('figures are stored within the range of their columns', () => {
  const none = { cpu: null, memory: null, fullest: null, guests: null, waiting: null };
  expect(storedFigures({})).toEqual(none);
  expect(storedFigures({ cpu: 12.34, memory: 1e300, fullest: -Infinity, guests: 3.4, waiting: 1e12 })).toEqual({
    cpu: 12.3,
    memory: 100,
    fullest: 0,
    guests: 3,
    waiting: 1_000_000_000,
  });
  expect(storedFigures({ cpu: Number.NaN, guests: null })).toEqual(none);
});

it('the use of processors counts each of them, and leaves out hosts that do not report it', () => {
  expect(cpuPercent([])).toBe(null);
  expect(cpuPercent([{ used: null, processors: 4 }])).toBe(null);
  expect(cpuPercent([{ used: 0.5, processors: 0 }])).toBe(null);
  expect(
    cpuPercent([
      { used: 1, processors: 4 },
      { used: 0, processors: 12 },
      { used: null, processors: 100 },
    ]),
  ).toBe(25);
});

it('the highest of values that are known', () => {
  expect(highestOf([])).toBe(null);
  expect(highestOf([null, -3, null, -7])).toBe(-3);
});

it('a history has one entry of each figure that was read for each point', () => {
  const at = before(0);
  const window = { from: at, to, stepSec: 300 };
  const step = (average: object, highest = average) => ({ at, state: 'ok' as const, failure: null, average, highest });
  expect(historyOf(window, [])).toEqual({ ...window, points: [], figures: [] });
  expect(historyOf(window, [step({ cpu: null, guests: 2 }), step({ cpu: null, guests: null })]).figures).toEqual([
    { key: 'guests', unit: 'count', average: [2, null], highest: [2, null] },
  ]);
});
