/** A value at a time, milliseconds. */
export interface Point {
  at: number;
  value: number;
}

const hourMs = 3_600_000;

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Memory goes up and down slowly: two looks a minute apart say hardly more than one, so that a part of the run counts as one. */
const parts = 12;

/**
 * What a value grows by in an hour, as a share of what it is on average, by the least squares line through twelve parts of the run; and
 * how far off that may be: what 19 of 20 runs stay within.
 */
export function growthOf(points: readonly Point[]): { perHour: number; error: number } {
  const averages = Array.from({ length: parts }, (_, n) => {
    const part = points.slice((n * points.length) / parts, ((n + 1) * points.length) / parts);
    return { at: mean(part.map(({ at }) => at)), value: mean(part.map(({ value }) => value)) };
  });
  const [middle, level] = [mean(averages.map(({ at }) => at)), mean(averages.map(({ value }) => value))];
  const spread = averages.reduce((sum, { at }) => sum + (at - middle) ** 2, 0);
  const slope = averages.reduce((sum, { at, value }) => sum + (at - middle) * (value - level), 0) / spread;
  const left = averages.reduce((sum, { at, value }) => sum + (value - level - slope * (at - middle)) ** 2, 0);
  const error = 2.23 * Math.sqrt(left / (parts - 2) / spread);
  return { perHour: (slope * hourMs) / level, error: (error * hourMs) / level };
}

/**
 * By how much something counted grew: what lies between the most of the first third and the least of the last third. What goes up and
 * down grows only when it never comes back to where it was.
 */
export function moreOf(points: readonly Point[]): number {
  const third = Math.ceil(points.length / 3);
  const values = points.map(({ value }) => value);
  return Math.max(0, Math.min(...values.slice(-third)) - Math.max(...values.slice(0, third)));
}
