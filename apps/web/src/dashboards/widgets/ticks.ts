/** Milliseconds until the next full step, so that all clocks change together with the second or minute. */
export const msToNextTick = (now: number, stepMs: number): number => stepMs - (((now % stepMs) + stepMs) % stepMs);
