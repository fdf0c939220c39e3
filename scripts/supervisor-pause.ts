const firstMs = 1_000;
const longestMs = 30_000;
const healthyMs = 60_000;

/** Failures in a row, including this one. A program that lived for a minute restarts the count. */
export const failuresInRow = (before: number, livedMs: number): number => (livedMs >= healthyMs ? 1 : before + 1);

/** Pause before the next restart: 1 s, doubled with each failure, at most 30 s. */
export const restartPauseMs = (failures: number): number => Math.min(firstMs * 2 ** (failures - 1), longestMs);
