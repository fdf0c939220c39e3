import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const options: axe.RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  // Axe leaves the size of targets out unless it is named.
  rules: { 'target-size': { enabled: true } },
  resultTypes: ['violations'],
  // Frames hold pages of others.
  iframes: false,
};

/** Fails if axe finds anything that WCAG 2.2 AA forbids in the page, or in the part with this selector, or if the page is wider than its window. */
export async function expectAccessible(page: Page, part?: string): Promise<void> {
  expect(await violations(page, part)).toEqual([]);
}

/** One line for each finding, with the first elements it concerns. */
export async function violations(page: Page, part = 'html'): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(source);
  const { violations, sideways } = await page.evaluate(
    async ({ part, options }) => {
      const { axe: here } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await here.run(part, options);
      const { scrollWidth, clientWidth } = document.documentElement;
      return { violations, sideways: scrollWidth > clientWidth ? { scrollWidth, clientWidth } : null };
    },
    { part, options },
  );
  const found = violations.map(({ id, nodes }) => {
    const shown = nodes
      .slice(0, 3)
      .map(
        ({ html, any, all }) => `${html.slice(0, 160)} (${[...any, ...all].map(({ message }) => message).join(' ')})`,
      );
    return `${id}: ${nodes.length} × ${shown.join(' | ')}`;
  });
  if (sideways) found.push(`sideways scroll: ${sideways.scrollWidth} px in a window of ${sideways.clientWidth}`);
  return found;
}
