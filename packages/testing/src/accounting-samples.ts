import { readFileSync } from 'node:fs';

/** One of the files in `accounting-samples`, whose README says what each is and where it comes from. */
export const accountingSample = (name: string): Buffer =>
  readFileSync(new URL(`accounting-samples/${name}`, import.meta.url));
