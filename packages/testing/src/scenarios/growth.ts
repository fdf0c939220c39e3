/** A value at a time, milliseconds. */
export interface Point {
  at: number;
  value: number;
}

const hourMs = 3_600_000;

/**
 * What a value grows by in an hour, as a share of what it is on average, by the least squares line; and how far off that may be: two
 * standard errors.
 */
export function growthOf(points: readonly Point[]): { perHour: number; error: number } {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, level] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))];
  const spread = points.reduce((sum, { at }) => sum + (at - middle) ** 2, 0);
  const slope = points.reduce((sum, { at, value }) => sum + (at - middle) * (value - level), 0) / spread;
  const left = points.reduce((sum, { at, value }) => sum + (value - level - slope * (at - middle)) ** 2, 0);
  const error = 2 * Math.sqrt(left / (points.length - 2) / spread);
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
