import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { RenderedMail } from '@portal/mail/template';
import type { Samples } from '@portal/mail/templates/samples';

const folder = join(import.meta.dirname, '../../mail/src/templates');
const ending = '.samples.ts';

/** Every mail kind of the product, as in an outbox row: area and file of its template. */
export const mailKinds: string[] = globSync('*/*.ts', { cwd: folder })
  .filter((file) => !file.endsWith(ending))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();

/** The exports of a template file. */
export const templateFile = (kind: string): Promise<Record<string, unknown>> => import(join(folder, `${kind}.ts`));

/** A sample of a mail kind: with a language, a variant or edge-case data. */
export interface SampleMail {
  kind: string;
  variant: string;
  mail: RenderedMail;
}

/** The samples beside the templates: every kind in every language and variant, with ordinary and with edge-case data. */
export async function sampleMails(): Promise<SampleMail[]> {
  const mails: SampleMail[] = [];
  for (const file of globSync(`*/*${ending}`, { cwd: folder }).toSorted()) {
    const { samples } = (await import(join(folder, file))) as { samples: Samples };
    const kind = file.slice(0, -ending.length);
    for (const [variant, mail] of Object.entries(samples)) mails.push({ kind, variant, mail });
  }
  return mails;
}
