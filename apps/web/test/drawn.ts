import type { Page } from 'playwright-core';

const loading = /^(Loading…|Wird geladen …)$/;

/** Waits until the page has its heading and nothing on it is loading. */
export async function drawn(page: Page): Promise<Page> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.getByText(loading).first().waitFor({ state: 'detached' });
  return page;
}
