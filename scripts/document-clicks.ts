import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { newProfile } from '../apps/web/test/chromium.ts';

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof newProfile>>['newPage']>>;

const root = join(import.meta.dirname, '..');

/** The steps for a browser in a document: numbered lines that begin with one of four verbs. */
export function clicksOf(document: string): string[] {
  const lines = readFileSync(join(root, document), 'utf8').split('\n');
  return lines.flatMap((line) => /^\d+\. ((?:Open|Type|Press|Follow|See) .*)\.$/.exec(line)?.[1] ?? []);
}

/** Does what a step says. `address` replaces the one in the document. */
export async function doStep(page: Page, step: string, address: string): Promise<void> {
  const [verb = ''] = step.split(' ');
  const [text = ''] = [...step.matchAll(/`([^`]+)`/g)].map(([, inner]) => inner);
  const [name = ''] = [...step.matchAll(/\*\*([^*]+)\*\*/g)].map(([, inner]) => inner);
  switch (verb) {
    case 'Open':
      await page.goto(text.replace('http://127.0.0.1:3000', address));
      return;
    case 'Type':
      await page.getByLabel(name, { exact: true }).fill(text);
      return;
    case 'Press':
      await page.getByRole('button', { name }).first().click();
      return;
    case 'Follow':
      await page.getByRole('link', { name }).first().click();
      return;
    default:
      await page.getByText(name).first().waitFor();
  }
}
