import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, make, service } = await servePages();

const wiki = 'https://wiki.example.org';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const mainNavigation = (page: Page) => page.getByRole('navigation', { name: 'Main navigation' });
/** The role and the words of what has the focus. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document;
    return `${activeElement?.tagName.toLowerCase()} ${activeElement?.getAttribute('aria-label') ?? activeElement?.textContent?.trim()}`;
  });

describe.skipIf(!hasBrowser)('by keyboard alone', () => {
  it('the first stop skips to the content', async () => {
    const page = await drawn(await openPage('/app/reminders', { account: await addAccount() }));
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('a Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
    expect(new URL(page.url()).hash).toBe('');
  });

  it('every stop is visible and shows that it has the focus', async () => {
    const page = await drawn(await openPage('/app/me', { account: await addAccount() }));
    const stops: string[] = [];
    for (let n = 0; n < 120; n += 1) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const { activeElement } = document;
        if (!activeElement || activeElement === document.body) return null;
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(activeElement);
        const { width, height, top, bottom } = activeElement.getBoundingClientRect();
        const hasRing = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
        const isOnScreen = width > 0 && height > 0 && bottom > 0 && top < innerHeight;
        return { html: activeElement.outerHTML.slice(0, 120), isFine: hasRing && isOnScreen };
      });
      if (stop === null) break;
      stops.push(stop.html);
      expect(stop).toEqual({ html: stop.html, isFine: true });
    }
    expect(stops.length).toBeGreaterThan(20);
  });

  it('the palette finds a page and opens it', async () => {
    const page = await drawn(await openPage('/app', { account: await addAccount() }));
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    await palette.getByRole('combobox').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('remi');
    await palette.getByRole('option', { name: 'Reminders', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Reminders').waitFor();
    await palette.waitFor({ state: 'hidden' });
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);
  });

  it('the palette runs commands, says when nothing matches, and gives the focus back', async () => {
    const account = await addAccount();
    const page = await drawn(await openPage('/app/reminders', { account }));
    const search = page.getByRole('button', { name: /Search/ });
    await search.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('qqqq');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await search.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('dark th');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme="dark"]').waitFor();
    await expect.poll(async () => (await portalOf(account).get('/auth/me')).theme).toBe('dark');
  });

  it('? opens the help, but not while somebody writes', async () => {
    const page = await drawn(await openPage('/app/me', { account: await addAccount() }));
    const name = page.getByRole('textbox', { name: 'Display name' });
    await name.focus();
    await page.keyboard.type('Who?');
    expect(await name.inputValue()).toContain('Who?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('main').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Help' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('a link of the navigation opens its page, whose name is announced', async () => {
    const page = await drawn(await openPage('/app', { account: await addAccount() }));
    const link = mainNavigation(page).getByRole('link', { name: 'Reminders' });
    await link.focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Reminders').waitFor();
    expect(await link.getAttribute('aria-current')).toBe('page');
    await page.locator('[aria-live="polite"]', { hasText: 'Reminders' }).first().waitFor({ state: 'attached' });
  });

  it('the menu of the account works with arrows and letters', async () => {
    const account = await addAccount({ displayName: 'Änne Weiß' });
    const page = await drawn(await openPage('/app', { account }));
    const opener = page.getByRole('button', { name: 'Account of Änne Weiß' });
    await opener.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'My account' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.type('Sec');
    await page.keyboard.press('Enter');
    await heading(page, 'Security').waitFor();
  });
});

describe.skipIf(!hasBrowser)('notices', () => {
  it('count what fell due, and can be settled where they stand', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'Feed the cat', dueAt: new Date(Date.now() - 60_000) });
    const page = await drawn(await openPage('/app', { account }));
    await page.getByRole('button', { name: 'Notifications, 1 unread' }).click();
    const panel = page.getByRole('dialog', { name: 'Notifications' });
    await panel.getByRole('link', { name: 'Feed the cat' }).waitFor();
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Done', exact: true }).click();
    await panel.getByRole('button', { name: 'Done', exact: true }).waitFor({ state: 'hidden' });
    await expect
      .poll(async () => (await portalOf(account).get('/reminders', { params: { query: { state: 'done' } } })).length)
      .toBe(1);
    await page.reload();
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  });

  it('arrive while the page is open', async () => {
    const account = await addAccount();
    const page = await drawn(await openPage('/app', { account }));
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
    await make.reminder(account, { title: 'Turn off the oven', dueAt: new Date(Date.now() + 2_000) });
    await page.getByText('Reminder: Turn off the oven').waitFor();
    expect(await page.title()).toMatch(/^\(1\) /);
  });

  it('are asked for by one window for all', async () => {
    const account = await addAccount();
    const first = await openPage('about:blank', { account });
    const asked: Page[] = [];
    const open = async (page: Page) => {
      await page.clock.install();
      page.on('request', (request) => {
        if (new URL(request.url()).pathname === '/reminders/notifications') asked.push(page);
      });
      await page.goto('/app/reminders');
      return drawn(page);
    };
    await open(first);
    const second = await open(await openPage('about:blank', { beside: first }));
    asked.length = 0;
    for (let round = 1; round <= 3; round += 1) {
      for (const page of [first, second]) await page.clock.fastForward(31_000);
      await expect.poll(() => asked.length).toBe(round);
    }
    expect(new Set(asked).size).toBe(1);
    // Another one takes over.
    await asked[0]?.close();
    const left = asked[0] === first ? second : first;
    await expect
      .poll(async () => {
        await left.clock.fastForward(31_000);
        return asked.at(-1) === left;
      })
      .toBe(true);
  });
});

describe.skipIf(!hasBrowser)('on a telephone', () => {
  it('the bar at the bottom leads everywhere', async () => {
    const page = await drawn(await openPage('/app', { account: await addAccount(), width: 320, height: 640 }));
    await mainNavigation(page).getByRole('link', { name: 'Reminders' }).click();
    await heading(page, 'Reminders').waitFor();
    await page.getByRole('button', { name: 'Modules' }).click();
    const modules = page.getByRole('dialog', { name: 'Modules' });
    await modules.getByRole('button', { name: 'Add a custom module' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    const sheet = page.getByRole('dialog', { name: 'Account' });
    await expectAccessible(page);
    await sheet.getByRole('link', { name: 'Security' }).click();
    await heading(page, 'Security').waitFor();
    await sheet.waitFor({ state: 'hidden' });
  });

  it('signing out is possible', async () => {
    allow('401 GET /auth/me');
    const page = await drawn(await openPage('/app', { account: await addAccount(), width: 320, height: 640 }));
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
  });
});

describe.skipIf(!hasBrowser)('signing out', () => {
  it('leaves nothing to see by going back', async () => {
    const account = await addAccount({ displayName: 'Änne Weiß' });
    allow('401 ');
    const page = await drawn(await openPage('/app/me', { account }));
    await mainNavigation(page).getByRole('link', { name: 'Reminders' }).click();
    await heading(page, 'Reminders').waitFor();
    await page.getByRole('button', { name: 'Account of Änne Weiß' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    await page.goBack();
    await heading(page, 'Sign in').waitFor();
    expect(await page.getByText('Änne Weiß').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('a custom module', () => {
  it('is added, framed without reach into the portal, changed and removed', async () => {
    const account = await addAccount();
    allow(`other host: ${wiki}`);
    const page = await openPage('/app', { account });
    await page
      .context()
      .route(`${wiki}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>The wiki</h1>' }));
    await drawn(page);
    await page.getByRole('button', { name: 'Add a custom module' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Wiki');
    await dialog.getByRole('textbox', { name: 'Address' }).fill(`${wiki}/start`);
    await dialog.getByRole('button', { name: /^(Add|Save)/ }).click();
    await mainNavigation(page).getByRole('link', { name: 'Wiki' }).click();
    await heading(page, 'Wiki').waitFor();
    const frame = page.locator('iframe');
    await page.frameLocator('iframe').getByRole('heading', { name: 'The wiki' }).waitFor();
    expect((await frame.getAttribute('sandbox'))?.split(' ').toSorted()).toEqual([
      'allow-forms',
      'allow-popups',
      'allow-same-origin',
      'allow-scripts',
    ]);
    expect(await frame.getAttribute('referrerpolicy')).toBe('no-referrer');
    expect(await frame.getAttribute('title')).toBe('Wiki');
    await expectAccessible(page);
  });

  it('of the portal itself is not framed', async () => {
    const account = await addAccount();
    const page = await drawn(await openPage('/app', { account }));
    await page.getByRole('button', { name: 'Add a custom module' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Portal');
    await dialog.getByRole('textbox', { name: 'Address' }).fill(`${service.url}/app`);
    allow('400 POST /custom-modules');
    await dialog.getByRole('button', { name: /^(Add|Save)/ }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('the language', () => {
  it('changes at once, stays after reloading, and reaches the other window', async () => {
    const account = await addAccount({ displayName: 'Änne Weiß' });
    const page = await drawn(await openPage('/app/reminders', { account }));
    await page.getByRole('button', { name: 'Account of Änne Weiß' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Deutsch' }).click();
    await heading(page, 'Erinnerungen').waitFor();
    await expect.poll(async () => (await portalOf(account).get('/auth/me')).language).toBe('de');
    await page.reload();
    await heading(page, 'Erinnerungen').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    await page.getByRole('button', { name: 'Konto von Änne Weiß' }).click();
    const chosen = page.getByRole('menuitemcheckbox', { name: 'Deutsch' });
    expect(await chosen.getAttribute('aria-checked')).toBe('true');
    await page.getByRole('menuitemcheckbox', { name: 'Sprache des Browsers' }).click();
    await heading(page, 'Reminders').waitFor();
  });
});

describe.skipIf(!hasBrowser)('a lost connection', () => {
  it('is said, and passes by itself', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'Water the plants' });
    allow('unreachable ', '503 ');
    const page = await drawn(await openPage('/app', { account }));
    await service.stop();
    try {
      // Found out by the next question for notices.
      await page.getByText('The connection is lost').waitFor();
    } finally {
      await service.start();
    }
    await page.getByText('The connection is lost').waitFor({ state: 'hidden' });
    await mainNavigation(page).getByRole('link', { name: 'Reminders' }).click();
    await page.getByRole('main').getByText('Water the plants').waitFor();
  });

  it('that keeps the script of a page away offers to try again', async () => {
    const account = await addAccount();
    allow('unreachable ', '503 ');
    const page = await drawn(await openPage('/app', { account }));
    await service.stop();
    try {
      await mainNavigation(page).getByRole('link', { name: 'Reminders' }).click();
      await page.getByRole('main').getByRole('button', { name: 'Try again' }).waitFor();
    } finally {
      await service.start();
    }
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Reminders').waitFor();
  });

  it('while the page loads offers to try again', async () => {
    const account = await addAccount();
    allow('503 ', 'unreachable ');
    const page = await openPage('about:blank', { account });
    await page.route('**/auth/me', (route) =>
      route.fulfill({ status: 503, json: { statusCode: 503, code: 'UNAVAILABLE' } }),
    );
    await page.goto('/app/reminders');
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.unroute('**/auth/me');
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Reminders').waitFor();
  });
});
