/** A value at a time in milliseconds. */
export interface Point {
  at: number;
  value: number;
}

const hourMs = 3_600_000;

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Memory fluctuates slowly: two samples a minute apart say hardly more than one, so each part of the run counts as one sample. */
const parts = 12;

/**
 * Growth per hour as a share of the mean, by the least squares line through twelve parts of the run, and its error: 19 of 20 runs stay
 * within it.
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
 * Growth of a count: the minimum of the last third minus the maximum of the first third, at least 0. A fluctuating count grows only if it
 * never returns to its earlier level.
 */
export function countGrowth(points: readonly Point[]): number {
  const third = Math.ceil(points.length / 3);
  const values = points.map(({ value }) => value);
  return Math.max(0, Math.min(...values.slice(-third)) - Math.max(...values.slice(0, third)));
}
