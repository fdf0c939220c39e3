import { setTimeout as pause } from 'node:timers/promises';

/** A task for tests whose code takes long to load. */
export const run = (value: unknown): unknown => value;

await pause(1_500);
