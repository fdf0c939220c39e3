import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('einvoice-samples/', import.meta.url);

/** One of the files in `einvoice-samples`, whose README says where they come from: `zugferd-corpus/EN16931_Einfach.pdf`. */
export const invoiceSample = (path: string): Buffer => readFileSync(new URL(path, folder));

/** The paths of all of them. */
export const invoiceSamples = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:xml|pdf)$/.test(path))
    .toSorted();
