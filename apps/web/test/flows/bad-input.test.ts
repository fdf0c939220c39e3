import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { pngIcon } from '@portal/testing/icons';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, make } = await servePages();

const markup = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';

/** Names that break pages which trust them: markup, one endless word, right-to-left text with controls, letters of several characters. */
const names = {
  markup,
  'an endless word': 'Donaudampfschifffahrtsgesellschaft'.repeat(6).slice(0, 200),
  'right to left': `\u202Eשלום עולם ${'مرحبا بالعالم '.repeat(12)}`.slice(0, 200).trim(),
  emoji: '👩‍👩‍👧‍👦'.repeat(18),
  'combining marks': 'Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324'.repeat(16),
};

const all = Object.values(names);
const wide = { width: 1440, height: 900 };
const narrow = { width: 320, height: 640 };

/** An account whose every name is this one. */
async function accountNamed(name: string) {
  const { id: tenantId } = await make.tenant({ name });
  return addAccount({ tenantId, displayName: name });
}

/** An account with something of each kind for each name. */
async function accountWithAll() {
  const account = await addAccount();
  const portal = portalOf(account);
  const [first] = await portal.get('/dashboard/tabs');
  const path = { id: first?.id ?? '' };
  const add = (type: string, config: object) =>
    portal.post('/dashboard/tabs/{id}/widgets', { params: { path }, body: { type, config: { ...config } } });
  const { id: widgetId } = await add('favorites', {});
  await add('reminders', {});
  for (const name of all) {
    await portal.post('/dashboard/tabs', { body: { name: [...name].slice(0, 30).join('') } });
    await portal.post('/favorites', { body: { widgetId, title: name, url: 'https://example.org/' } });
    await add('notes', { text: `${name}\n${name}` });
    await add('embedded-page', { url: 'https://weather.example.org/', title: name });
    await make.reminder(account, { title: name, note: name, dueAt: new Date(Date.now() - 60_000) });
    await make.reminder(account, { title: name, note: name });
    await portal.post('/custom-modules', {
      body: { name, url: 'https://wiki.example.org/', category: 'custom-modules' },
    });
  }
  return account;
}

async function openWithFrames(account: Awaited<ReturnType<typeof addAccount>>, size: typeof wide): Promise<Page> {
  allow('other host: https://weather.example.org', 'other host: https://wiki.example.org');
  const page = await openPage('about:blank', { account, ...size });
  await page.context().route(/https:\/\/\w+\.example\.org\//, (route) => route.fulfill({ body: '' }));
  return page;
}

/** The page shows names as text, in both widths, and runs nothing. Axe looks at the narrow one, where a name has the least room. */
async function expectHarmless(page: Page): Promise<void> {
  await drawn(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await page.setViewportSize(narrow);
  await drawn(page);
  await expectAccessible(page);
  await page.setViewportSize(wide);
  expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
  expect(await page.locator('img[src="x"]').count()).toBe(0);
}

describe.skipIf(!hasBrowser)('names of all kinds', () => {
  it('of tiles, dashboards, reminders and modules are shown as text, fit, and run nothing', async () => {
    const page = await openWithFrames(await accountWithAll(), wide);
    await page.goto('/app');
    await drawn(page);
    expect(await page.getByRole('article').count()).toBe(2 + 2 * all.length);
    await expectAccessible(page);
    await expectHarmless(page);
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    await navigation.getByRole('link', { name: 'Reminders' }).click();
    await page.getByRole('heading', { level: 1, name: 'Reminders' }).waitFor();
    await expectAccessible(await drawn(page));
    await expectHarmless(page);
    const modules = navigation.locator('a[href^="/app/modules/"]');
    expect(await modules.count()).toBe(all.length);
    for (const module of await modules.all()) {
      const name = (await module.textContent()) ?? '';
      await module.click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await expectHarmless(page);
    }
  });

  it.each(Object.entries(names))('of an account, here %s, are shown as text, fit, and run nothing', async (_, name) => {
    const page = await openPage('/app/me', { account: await accountNamed(name) });
    await drawn(page);
    expect(await page.getByRole('textbox', { name: 'Display name' }).inputValue()).toBe(name);
    await expectHarmless(page);
  });

  it('are what dialogs, menus and messages say', async () => {
    const page = await openWithFrames(await accountWithAll(), narrow);
    await page.goto('/app/reminders');
    await drawn(page);
    await page.getByRole('button', { name: /^Notifications/ }).click();
    await page.getByRole('dialog', { name: 'Notifications' }).getByRole('listitem').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');

    const edits = page.getByRole('button', { name: /^Edit “/ });
    expect(await edits.count()).toBe(all.length);
    const edited: string[] = [];
    for (const edit of await edits.all()) {
      await edit.click();
      edited.push(await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).inputValue());
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    }
    expect(edited.toSorted()).toEqual(all.toSorted());
    // One message after the other, so that each is looked at.
    const deletions = page.getByRole('button', { name: /^Delete “/ });
    const before = await deletions.count();
    for (let n = 1; n <= all.length; n += 1) {
      await deletions.last().click();
      await expect.poll(() => deletions.count()).toBe(before - n);
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      // The page itself lies partly below them for a moment.
      await expectAccessible(page, '[aria-label="Messages"]');
      await page.getByRole('button', { name: 'Dismiss message' }).click();
    }
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
  });

  it('of pictures are uploaded, listed and deleted', async () => {
    const page = await openPage('/app/images', { account: await addAccount(), ...narrow });
    await page.getByText('No pictures yet').waitFor();
    await chooseFiles(
      page,
      page.getByRole('button', { name: 'Choose files' }),
      ...all.map((name) => ({
        name: `${name.replaceAll('/', '_')}.png`,
        mimeType: 'image/png',
        buffer: pngIcon(),
      })),
    );
    await page.getByText(`${all.length} of 30 pictures`).waitFor();
    await expectAccessible(page);
    const deletions = page.getByRole('button', { name: /^Delete/ });
    for (let left = all.length - 1; left >= 0; left -= 1) {
      await deletions.first().click();
      await expectAccessible(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
      await expect.poll(() => deletions.count()).toBe(left);
    }
    await page.getByText('No pictures yet').waitFor();
  });
});
