import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pngIcon } from '@portal/testing/icons';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, cookieOf, service } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;

const picture = (name: string, side = 300) => ({
  name,
  mimeType: 'image/png',
  buffer: pngIcon({ side, shade: side % 256 }),
});

const openProfile = async (account: Account) => drawn(await openPage('/app/me', { account }));
/** A card of the page, by its heading. */
const card = (page: Page, name: string) => page.getByRole('region', { name });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
const saved = (page: Page) => page.getByText('Saved.', { exact: true }).first().waitFor();

describe.skipIf(!hasBrowser)('the account', () => {
  it('has a name that stands in the frame at once, an address behind the password, a language and a theme', async () => {
    const account = await addAccount({ displayName: 'Änne Weiß' });
    allow('401 PATCH /users/me', '409 PATCH /users/me');
    const page = await openProfile(account);
    const profile = () => portalOf(account).get('/auth/me');
    const name = page.getByRole('textbox', { name: 'Display name' });
    expect(await name.inputValue()).toBe('Änne Weiß');
    await name.fill('Änne Schwarz');
    await card(page, 'Name').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Account of Änne Schwarz' }).waitFor();
    expect((await profile()).displayName).toBe('Änne Schwarz');

    const email = card(page, 'E-mail address');
    await email.getByRole('textbox', { name: 'New address' }).fill('änne@exämple.org');
    await email.getByLabel(/^Current password/).fill('not the right words');
    await email.getByRole('button', { name: 'Change address' }).click();
    // Without a mail server the service refuses it before it looks at the password.
    await email.getByRole('alert').locator('p').first().waitFor();
    expect(await email.getByRole('textbox', { name: 'New address' }).inputValue()).toBe('änne@exämple.org');

    await page.getByRole('combobox', { name: 'Theme' }).selectOption('Dark');
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch');
    await heading(page, 'Mein Konto').waitFor();
    await expect.poll(profile).toMatchObject({ language: 'de', theme: 'dark' });
    await page.reload();
    await heading(page, 'Mein Konto').waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('dark');
    // The next person at this browser, who has not signed in yet, gets the theme but nothing else of it.
    await page.getByRole('combobox', { name: 'Farbschema' }).selectOption('Wie im Browser');
    await page.locator('html:not([data-theme])').waitFor();
  });
});

describe.skipIf(!hasBrowser)('the avatar', () => {
  const avatarOf = async (account: Account) => {
    const answer = await fetch(`${service.url}/users/me/avatar`, { headers: { cookie: await cookieOf(account) } });
    return answer.ok
      ? createHash('sha256')
          .update(await answer.bytes())
          .digest('hex')
      : null;
  };
  const choose = (page: Page) => card(page, 'Profile picture').getByRole('button', { name: 'Choose file' });
  const crop = (page: Page) => page.getByRole('dialog', { name: 'Choose the crop' });

  it('is cropped by pointer, keyboard and button, saved, shown and removed', async () => {
    const account = await addAccount();
    const page = await openProfile(account);
    await chooseFiles(page, choose(page), picture('me.png', 700));
    const dialog = crop(page);
    const stage = dialog.getByRole('application', { name: 'Crop' });
    await stage.waitFor();
    await expectAccessible(page);
    const position = dialog.getByRole('status').first();
    const centre = await position.textContent();
    await dialog.getByRole('button', { name: 'Zoom in' }).click();
    await dialog.getByRole('button', { name: 'Zoom in' }).click();
    await dialog.getByRole('button', { name: 'Move crop left' }).click();
    await expect.poll(() => position.textContent()).not.toBe(centre);
    await stage.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => position.textContent()).toBe(centre);
    await stage.hover();
    await page.mouse.down();
    const box = await stage.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 20, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => position.textContent()).not.toBe(centre);
    await dialog.getByRole('button', { name: 'Save as profile picture' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Your new profile picture is saved.').waitFor();
    expect(await avatarOf(account)).not.toBeNull();

    await page.reload();
    await page.getByRole('button', { name: 'Remove picture' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove picture' }).click();
    await page.getByText('Your profile picture is removed.').waitFor();
    expect(await avatarOf(account)).toBeNull();
  });

  it('is refused as a file that is no picture, with what to do, and by the service without losing the crop', async () => {
    const page = await openProfile(await addAccount());
    for (const { text, ...file } of [
      { name: 'me.svg', mimeType: 'image/svg+xml', text: 'SVG files are not possible' },
      { name: 'me.heic', mimeType: 'image/heic', text: 'This browser cannot read HEIC pictures' },
      { name: 'me.png', mimeType: 'image/png', text: 'This file cannot be read as a picture' },
    ]) {
      await chooseFiles(page, choose(page), { ...file, buffer: Buffer.from('<svg/>') });
      await card(page, 'Profile picture').getByText(text).waitFor();
      expect(await page.getByRole('dialog').count()).toBe(0);
    }

    // Another one works.
    allow('413 POST /users/me/avatar');
    await page.route('**/users/me/avatar', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 413, json: { statusCode: 413, code: 'PAYLOAD_TOO_LARGE', message: 'Too large.' } })
        : route.continue(),
    );
    await chooseFiles(page, choose(page), picture('me.png'));
    const save = crop(page).getByRole('button', { name: 'Save as profile picture' });
    await save.click();
    await crop(page).getByRole('alert').getByText('PAYLOAD_TOO_LARGE').waitFor();
    await page.unroute('**/users/me/avatar');
    await save.click();
    await crop(page).waitFor({ state: 'hidden' });
  });
});

describe.skipIf(!hasBrowser)('the accent colour', () => {
  const accent = (page: Page) => page.evaluate(() => document.documentElement.style.getPropertyValue('--accent'));

  it('shows at once, goes back when discarded, stays when saved, and is refused if it is none', async () => {
    const account = await addAccount();
    const page = await openProfile(account);
    const colours = card(page, 'Accent colour');
    await colours.getByRole('radio', { name: 'Teal' }).check();
    await expect.poll(() => accent(page)).toBe('#0f766e');
    await colours.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => accent(page)).toBe('#2563eb');
    await colours.getByRole('radio', { name: 'Magenta' }).check();
    await colours.getByRole('button', { name: 'Save' }).click();
    await saved(page);
    await page.reload();
    const code = colours.getByRole('textbox', { name: 'Colour code' });
    await code.waitFor();
    expect(await accent(page)).toBe('#c026d3');

    allow('400 PATCH /users/me');
    await code.fill('blueish');
    await colours.getByRole('button', { name: 'Save' }).click();
    await colours.locator('[aria-invalid="true"]').waitFor();
    expect(await code.inputValue()).toBe('blueish');
  });

  it('stays readable, whichever it is', async () => {
    const account = await addAccount();
    const page = await openPage('about:blank', { account });
    for (const accentColor of ['#ffffff', '#000000', '#ffff00']) {
      await portalOf(account).patch('/users/me', { body: { accentColor } });
      await page.goto('/app/me');
      await drawn(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await expectAccessible(page);
      }
    }
  });
});

describe.skipIf(!hasBrowser)('the background of the dashboards', () => {
  it('is a gradient, a picture that is uploaded on the spot, and none again', async () => {
    const account = await addAccount();
    const portal = portalOf(account);
    const page = await openProfile(account);
    const background = card(page, 'Dashboard background');
    // The pointer would wait until the message about the save before no longer lies over the button.
    const save = () => background.getByRole('button', { name: 'Save' }).press('Enter');
    const stored = async () => (await portal.get('/auth/me')).dashboardBackground;
    await background.getByRole('radio', { name: 'Gradient' }).check();
    await background.getByRole('textbox', { name: 'Colour code' }).first().fill('#112233');
    await background.getByRole('slider', { name: 'Angle' }).fill('90');
    await save();
    await expect.poll(stored).toMatchObject({ kind: 'gradient', from: '#112233', angle: 90 });
    await background.getByRole('radio', { name: 'None' }).check();
    await save();
    await expect.poll(async () => (await stored()).kind).toBe('none');

    await background.getByRole('radio', { name: 'My own picture' }).check();
    await chooseFiles(page, background.getByRole('button', { name: 'Choose file' }), picture('water tower.png'));
    const chosen = background.getByRole('radio', { name: 'water tower.png' });
    await chosen.waitFor();
    await expect.poll(() => chosen.isChecked()).toBe(true);
    await background.getByRole('combobox', { name: 'Fit' }).selectOption('Tile');
    await save();
    await expect.poll(async () => (await stored()).kind).toBe('image');
    const [image] = await portal.get('/dashboard/images');
    expect(await stored()).toMatchObject({ imageId: image?.id, fit: 'tile' });
    await page.getByRole('link', { name: 'Dashboard', exact: true }).first().click();
    const isBehind = (id: string) =>
      [...document.querySelectorAll('main *')].some((one) => getComputedStyle(one).backgroundImage.includes(id));
    await expect.poll(() => page.evaluate(isBehind, image?.id ?? '')).toBe(true);
    await expectAccessible(await drawn(page));
  });
});

describe.skipIf(!hasBrowser)('security', () => {
  it('changes the password and ends all other sessions, then one session of the list, then this one too', async () => {
    const account = await addAccount();
    const ended = { code: 'UNAUTHENTICATED' };
    const first = portalOf(account);
    await first.get('/auth/me');
    const page = await drawn(await openPage('/app/me/security', { account }));
    await page.getByLabel(/^Current password/).fill(account.password);
    await page.getByLabel(/^New password/).fill('four candles and a fork');
    await page.getByRole('button', { name: 'Save password' }).click();
    await page.getByText('Your password is changed').waitFor();
    await expect(first.get('/auth/me')).rejects.toMatchObject(ended);
    expect(await page.getByLabel(/^Current password/).inputValue()).toBe('');

    const second = portalOf({ ...account, sessionVersion: 2 });
    await second.get('/auth/me');
    // This session goes on.
    await page.reload();
    await drawn(page);
    await heading(page, 'Security').waitFor();
    const ends = page.getByRole('button', { name: /^End session/ });
    await expect.poll(() => ends.count()).toBe(1);
    await ends.click();
    await expect.poll(() => ends.count()).toBe(0);
    await expect(second.get('/auth/me')).rejects.toMatchObject(ended);

    allow('401 ');
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await heading(page, 'Sign in').waitFor();
  });

  it('does not ask a directory account for a password that is changed elsewhere', async () => {
    const account = await addAccount({ ldapDn: 'uid=anne,dc=example,dc=org', passwordHash: null });
    const page = await openPage('/app/me/security', { account });
    await page.getByText('You sign in with your company password').waitFor();
    expect(await page.getByRole('button', { name: 'Save password' }).count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('pictures', () => {
  it('are uploaded together, listed with their names, and deleted after saying what goes', async () => {
    const account = await addAccount();
    allow('400 POST /dashboard/images');
    const page = await openPage('/app/images', { account });
    await page.getByText('No pictures yet').waitFor();
    const choose = page.getByRole('button', { name: 'Choose files' });
    const folder = await mkdtemp(join(tmpdir(), 'portal-test-picture-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const huge = join(folder, 'huge.png');
    await writeFile(huge, Buffer.alloc(5 * 1024 * 1024 + 1));
    await chooseFiles(page, choose, huge);
    await page.getByRole('alert').getByText('Too large').waitFor();
    await chooseFiles(
      page,
      choose,
      picture('first.png'),
      { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('no picture') },
      picture('second.png', 301),
    );
    await page.getByText('2 of 30 pictures').waitFor();
    await page.getByRole('alert').getByText('broken.png').waitFor();
    await page.getByRole('alert').getByText('Not a PNG, JPEG, GIF or WebP picture.').waitFor();
    await expectAccessible(page);
    const [first] = await portalOf(account).get('/dashboard/images');
    await portalOf(account).patch('/users/me/dashboard-background', {
      body: { kind: 'image', imageId: first?.id ?? '', fit: 'cover', dim: 0, blur: 0 },
    });
    await page.reload();
    await page.getByRole('button', { name: /^Delete .*first\.png/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete picture?' });
    await dialog.getByText('Dashboard background').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('1 of 30 pictures').waitFor();
    expect((await portalOf(account).get('/auth/me')).dashboardBackground.kind).toBe('none');
  });
});
