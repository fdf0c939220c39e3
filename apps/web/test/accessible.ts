import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Fails if axe finds anything that WCAG 2.2 AA forbids, or if the page is wider than its window. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}

/** One line for each finding, with the first elements it concerns. */
export async function violations(page: Page): Promise<string[]> {
  // Axe leaves the size of targets out unless it is named.
  const axe = new AxeBuilder({ page }).options({
    runOnly: { type: 'tag', values: wcag },
    rules: { 'target-size': { enabled: true } },
  });
  const found = (await axe.analyze()).violations.map(({ id, nodes }) => {
    const shown = nodes
      .slice(0, 3)
      .map(
        ({ html, any, all }) => `${html.slice(0, 160)} (${[...any, ...all].map(({ message }) => message).join(' ')})`,
      );
    return `${id}: ${nodes.length} × ${shown.join(' | ')}`;
  });
  const { scrollWidth, clientWidth } = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });
  if (scrollWidth > clientWidth) found.push(`sideways scroll: ${scrollWidth} px in a window of ${clientWidth}`);
  return found;
}
