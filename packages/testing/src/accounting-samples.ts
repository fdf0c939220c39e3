import { readFileSync } from 'node:fs';

/** A file of `accounting-samples`; the README there describes each file and its origin. */
export const accountingSample = (name: string): Buffer =>
  readFileSync(new URL(`accounting-samples/${name}`, import.meta.url));
