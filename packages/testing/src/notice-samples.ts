import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('notice-samples/', import.meta.url);

/** One of the files in `notice-samples`, whose README says what each is and where it comes from. */
export const noticeSample = (name: string): Buffer => readFileSync(new URL(name, folder));

/** The names of all of them. */
export const noticeSamples = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.xml'))
    .toSorted();
