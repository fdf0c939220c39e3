import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('notice-samples/', import.meta.url);

/** A file of `notice-samples`; the README there describes each file and its origin. */
export const noticeSample = (name: string): Buffer => readFileSync(new URL(name, folder));

/** The names of all samples. */
export const noticeSamples = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.xml'))
    .toSorted();
