const firstMs = 1_000;
const longestMs = 30_000;
const healthyMs = 60_000;

/** How often in a row it ended, given how long it lived this time: a minute of health starts the count anew. */
export const failuresInRow = (before: number, livedMs: number): number => (livedMs >= healthyMs ? 1 : before + 1);

/** How long to wait before starting again what ended so often in a row: 1 s, doubled each time, at most 30 s. */
export const restartPauseMs = (failures: number): number => Math.min(firstMs * 2 ** (failures - 1), longestMs);
