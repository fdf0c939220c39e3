import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('einvoice-samples/', import.meta.url);

/** A file of `einvoice-samples`, for example `zugferd-corpus/EN16931_Einfach.pdf`; the README there names the origins. */
export const invoiceSample = (path: string): Buffer => readFileSync(new URL(path, folder));

/** The paths of all samples. */
export const invoiceSamples = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:xml|pdf)$/.test(path))
    .toSorted();
