import { expect } from 'vitest';
import { expectAccessible } from './accessible.ts';
import type { Look } from './chromium.ts';
import { drawn } from './drawn.ts';
import type { ListedPage } from './page-list.ts';
import type { Pages } from './serve-pages.ts';

/** Set by `pnpm soak web-pages`. */
export const isLong = process.env['LONG_FORM'] !== undefined;

/** Two opposite looks, which the pages share in every run; `pnpm soak web-pages` takes all eight for each page. */
export const looks: Required<Omit<Look, 'height'>>[] = (['de', 'en'] as const).flatMap((language) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    [1440, 320]
      .map((width) => ({ language, theme, width }))
      .filter(() => isLong || (language === 'de') === (theme === 'light'))
      .filter(({ width }) => isLong || (language === 'de') === (width === 1440)),
  ),
);

/** Opens a page of the list with an account that may, and checks what every page must have. */
export async function walkPage(stage: Pages, listed: ListedPage, look: Look): Promise<void> {
  const account = listed.who === 'public' ? undefined : await stage.accountFor(listed.who);
  // A page for signing in asks whose session the browser has.
  if (!account) stage.allow('401 GET /auth/me');
  // A service without packages of the desktop app.
  stage.allow('404 GET /desktop/latest');
  // What a custom module frames.
  stage.allow('other host: https://wiki.example.org');
  const page = await stage.openPage(await stage.samplePath(listed.path, account), { account, ...look });
  await drawn(page);
  const headings = page.getByRole('heading', { level: 1 });
  expect(await headings.count()).toBe(1);
  const name = (await headings.textContent())?.trim() ?? '';
  expect(name).not.toBe('');
  expect(await page.title()).toContain(`${name} · `);
  expect(await page.locator('html').getAttribute('lang')).toBe(look.language);
  expect(await page.getByRole('main').count()).toBe(1);
  await expectAccessible(page);
}
