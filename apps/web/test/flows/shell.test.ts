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

/** Everything that the page asks for stays away, until the function that this returns is called. */
async function loseConnection(page: Page): Promise<() => Promise<void>> {
  await page.route('**/*', (route) => route.abort('connectionrefused'));
  return () => page.unroute('**/*');
}

describe.skipIf(!hasBrowser)('the navigation', () => {
  it('shows the pages that every account has while the modules cannot be read', async () => {
    allow('503 GET /modules/active');
    const page = await openPage('about:blank', { account: await addAccount({ role: 'ADMIN' }) });
    let attempts = 0;
    await page.route('**/modules/active', (route) => {
      attempts += 1;
      // The second attempt has no answer.
      if (attempts === 1)
        return route.fulfill({ status: 503, json: { statusCode: 503, code: 'UNAVAILABLE', message: 'Not now.' } });
      return undefined;
    });
    await page.goto('/app/reminders');
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    await navigation.getByRole('link', { name: 'My pictures' }).waitFor();
    await navigation.getByRole('link', { name: 'Audit log' }).waitFor();
    expect(await navigation.getByRole('link', { name: 'Calendar' }).count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('by keyboard alone', () => {
  it('the first stop skips to the content, the palette finds a page and runs commands, and gives the focus back', async () => {
    const account = await addAccount();
    const page = await drawn(await openPage('/app', { account }));
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('a Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
    expect(new URL(page.url()).hash).toBe('');

    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    await palette.getByRole('combobox').waitFor();
    await palette.getByRole('option', { name: 'Dashboard 1' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.type('remi');
    await palette.getByRole('option', { name: 'Reminders', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await heading(page, 'Reminders').waitFor();
    await palette.waitFor({ state: 'hidden' });
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true);

    const search = page.getByRole('button', { name: 'Search Ctrl+K', exact: true });
    await search.focus();
    await page.keyboard.press('Enter');
    await palette.getByRole('combobox').waitFor();
    await page.keyboard.type('qqqq');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden' });
    expect(await search.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').waitFor();
    await page.keyboard.type('dark th');
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme="dark"]').waitFor();
    await expect.poll(async () => (await portalOf(account).get('/auth/me')).theme).toBe('dark');
  });

  it('? opens the help, but not while somebody writes, and every stop is visible and shows its focus', async () => {
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

  it('the menu of the account works with arrows and letters, and a link opens its page, whose name is announced', async () => {
    const account = await addAccount({ displayName: 'Änne Weiß' });
    const page = await drawn(await openPage('/app', { account }));
    const opener = page.getByRole('button', { name: 'Account of Änne Weiß' });
    await opener.focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'My account' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true);
    // Faster than the menu is drawn
    await page.keyboard.press('Enter');
    await page.keyboard.type('Sec');
    await page.keyboard.press('Enter');
    await heading(page, 'Security').waitFor();

    const link = mainNavigation(page).getByRole('link', { name: 'Reminders' });
    await link.focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Reminders').waitFor();
    expect(await link.getAttribute('aria-current')).toBe('page');
    await page.locator('[aria-live="polite"]', { hasText: 'Reminders' }).first().waitFor({ state: 'attached' });
  });
});

/** Lets the second pass after which a page asks for notices. */
async function firstNotices(page: Page): Promise<Page> {
  const answer = page.waitForResponse(/\/reminders\/notifications/);
  await page.clock.fastForward(1_000);
  await answer;
  return page;
}

describe.skipIf(!hasBrowser)('notices', () => {
  it('arrive while the page is open, are counted, and can be settled where they stand', async () => {
    const account = await addAccount();
    const page = await firstNotices(await drawn(await openPage('/app', { account, hasOwnClock: true })));
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
    await make.reminder(account, { title: 'Feed the cat', dueAt: new Date() });
    await page.clock.fastForward(31_000);
    await page.getByText('Reminder: Feed the cat').waitFor();
    expect(await page.title()).toMatch(/^\(1\) /);

    await page.getByRole('button', { name: 'Notifications, 1 unread' }).click();
    const panel = page.getByRole('dialog', { name: 'Notifications' });
    await panel.getByRole('link', { name: 'Feed the cat' }).waitFor();
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Done', exact: true }).click();
    await panel.getByRole('button', { name: 'Done', exact: true }).waitFor({ state: 'hidden' });
    await expect
      .poll(() => portalOf(account).get('/reminders', { params: { query: { state: 'done' } } }))
      .toHaveLength(1);
    await page.reload();
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor();
  });

  it('are asked for by one window for all', async () => {
    const account = await addAccount();
    const first = await openPage('about:blank', { account, hasOwnClock: true });
    const asked: Page[] = [];
    const open = async (page: Page) => {
      page.on('request', (request) => {
        if (new URL(request.url()).pathname === '/reminders/notifications') asked.push(page);
      });
      await page.goto('/app/reminders');
      return firstNotices(await drawn(page));
    };
    await open(first);
    const second = await open(await openPage('about:blank', { beside: first }));
    asked.length = 0;
    // The clocks of all windows of a profile go together.
    const later = (page: Page) => page.clock.fastForward(31_000);
    await expect
      .poll(async () => {
        await later(first);
        return asked.length;
      })
      .toBeGreaterThan(2);
    expect(new Set(asked).size).toBe(1);
    // Another one takes over.
    await asked[0]?.close();
    const left = asked[0] === first ? second : first;
    await expect
      .poll(async () => {
        await later(left);
        return asked.at(-1) === left;
      })
      .toBe(true);
  });
});

describe.skipIf(!hasBrowser)('on a telephone', () => {
  it('the bar at the bottom leads everywhere, and out', async () => {
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
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await heading(page, 'Sign in').waitFor();
    allow('401 GET /auth/me');
  });
});

describe.skipIf(!hasBrowser)('a custom module', () => {
  it('is added, framed without reach into the portal, changed and removed', async () => {
    const account = await addAccount();
    allow(`other host: ${wiki}`, '400 POST /custom-modules');
    const page = await openPage('/app', { account });
    await page
      .context()
      .route(`${wiki}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>The wiki</h1>' }));
    await page.getByRole('button', { name: 'Add a custom module' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Wiki');
    // Never the portal itself
    await dialog.getByRole('textbox', { name: 'Address' }).fill(`${service.url}/app`);
    await dialog.getByRole('button', { name: /^(Add|Save)/ }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await page.locator('iframe').count()).toBe(0);

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

    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Handbook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Handbook').waitFor();
    await mainNavigation(page).getByRole('link', { name: 'Handbook' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByText('“Handbook” goes from your navigation').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL('**/app');
    await mainNavigation(page).getByRole('link', { name: 'Handbook' }).waitFor({ state: 'hidden' });
  });
});

describe.skipIf(!hasBrowser)('the language', () => {
  it('is that of the sign-in until the account has its own, and signing out leaves nothing to see', async () => {
    const account = await addAccount({ displayName: 'Änne Weiß' });
    const languageOf = async () => (await portalOf(account).get('/auth/me')).language;
    allow('401 ');
    const page = await openPage('/app/reminders');
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await heading(page, 'Anmelden').waitFor();
    await page.reload();
    await page.getByRole('textbox', { name: 'Benutzername' }).fill(account.username);
    await page.getByRole('textbox', { name: 'Passwort' }).fill(account.password);
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await heading(page, 'Erinnerungen').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await languageOf()).toBeNull();

    const choose = async (opener: string, item: string) => {
      await page.getByRole('button', { name: opener }).click();
      await page.getByRole('menuitemcheckbox', { name: item }).click();
    };
    await choose('Konto von Änne Weiß', 'Sprache des Browsers');
    await heading(page, 'Reminders').waitFor();
    await choose('Account of Änne Weiß', 'Deutsch');
    await heading(page, 'Erinnerungen').waitFor();
    await expect.poll(languageOf).toBe('de');
    await page.reload();
    await heading(page, 'Erinnerungen').waitFor();
    await page.getByRole('button', { name: 'Konto von Änne Weiß' }).click();
    const chosen = page.getByRole('menuitemcheckbox', { name: 'Deutsch' });
    expect(await chosen.getAttribute('aria-checked')).toBe('true');
    await page.getByRole('menuitemcheckbox', { name: 'Sprache des Browsers' }).click();
    await heading(page, 'Reminders').waitFor();

    await mainNavigation(page).getByRole('link', { name: 'My account' }).click();
    await heading(page, 'My account').waitFor();
    await page.getByRole('button', { name: 'Account of Änne Weiß' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    await page.goBack();
    await heading(page, 'Sign in').waitFor();
    expect(await page.getByText('Änne Weiß').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('a lost connection', () => {
  it('is said, passes by itself, and offers to try again where the script of a page stays away', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'Water the plants' });
    allow('unreachable ');
    const page = await drawn(await openPage('/app', { account, hasOwnClock: true }));
    const lost = page.getByText('The connection is lost');
    const later = () => page.clock.fastForward(31_000);
    const restore = await loseConnection(page);
    // Found out by the next question for notices, which is repeated twice.
    await expect.poll(() => later().then(() => lost.isVisible())).toBe(true);
    await mainNavigation(page).getByRole('link', { name: 'Reminders' }).click();
    const again = page.getByRole('main').getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await restore();
    await expect.poll(() => later().then(() => lost.isVisible())).toBe(false);
    await again.click();
    await page.getByRole('main').getByText('Water the plants').waitFor();
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
