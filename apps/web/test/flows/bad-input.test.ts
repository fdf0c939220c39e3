import { describe, expect, it } from 'vitest';
import { pngIcon } from '@portal/testing/icons';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser, type Look } from '../chromium.ts';
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

const looks: Look[] = [{ width: 1440 }, { width: 320, height: 640 }];

type Named = ReturnType<typeof addAccountNamed>;
const made = new Map<string, Named>();

/** An account whose every name is this one, with something of each kind that it can name. */
function accountNamed(name: string): Named {
  const account = made.get(name) ?? addAccountNamed(name);
  made.set(name, account);
  return account;
}

async function addAccountNamed(name: string) {
  const { id: tenantId } = await make.tenant({ name });
  const account = await addAccount({ tenantId, displayName: name });
  const portal = portalOf(account);
  const [first] = await portal.get('/dashboard/tabs');
  const path = { id: first?.id ?? '' };
  await portal.patch('/dashboard/tabs/{id}', { params: { path }, body: { name: [...name].slice(0, 30).join('') } });
  const add = (type: string, config: object) =>
    portal.post('/dashboard/tabs/{id}/widgets', { params: { path }, body: { type, config: { ...config } } });
  const { id: widgetId } = await add('favorites', {});
  await portal.post('/favorites', { body: { widgetId, title: name, url: 'https://example.org/' } });
  await add('notes', { text: `${name}\n${name}` });
  await add('reminders', {});
  await add('embedded-page', { url: 'https://weather.example.org/', title: name });
  await make.reminder(account, { title: name, note: name, dueAt: new Date(Date.now() - 60_000) });
  await make.reminder(account, { title: name, note: name });
  const { id: moduleId } = await portal.post('/custom-modules', {
    body: { name, url: 'https://wiki.example.org/', category: 'custom-modules' },
  });
  return { account, moduleId };
}

describe.skipIf(!hasBrowser).each(Object.entries(names))('%s as every name', (_kind, name) => {
  it('is shown as text, fits, and runs nothing', async () => {
    const { account, moduleId } = await accountNamed(name);
    allow('other host: https://weather.example.org', 'other host: https://wiki.example.org');
    for (const look of looks) {
      for (const path of ['/app', '/app/reminders', '/app/me', `/app/modules/${moduleId}`]) {
        const page = await openPage('about:blank', { account, ...look });
        await page.context().route(/https:\/\/\w+\.example\.org\//, (route) => route.fulfill({ body: '' }));
        await page.goto(path);
        await drawn(page);
        await expectAccessible(page);
        expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
        expect(await page.locator('img[src="x"]').count()).toBe(0);
        await page.close();
      }
    }
  });

  it('is what dialogs, menus and messages say', async () => {
    const { account } = await accountNamed(name);
    allow('other host: https://weather.example.org');
    const page = await openPage('about:blank', { account, width: 320, height: 640 });
    await page.context().route(/https:\/\/\w+\.example\.org\//, (route) => route.fulfill({ body: '' }));
    await page.goto('/app/reminders');
    await drawn(page);
    await page.getByRole('button', { name: /^Notifications/ }).click();
    await page.getByRole('dialog', { name: 'Notifications' }).getByRole('listitem').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Edit “/ }).click();
    expect(await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).inputValue()).toBe(name);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page
      .getByRole('button', { name: /^Delete “/ })
      .last()
      .click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await expectAccessible(page);
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
  });
});

describe.skipIf(!hasBrowser)('a picture', () => {
  it.each(Object.entries(names))('whose name is %s is uploaded, listed and deleted', async (_kind, name) => {
    const account = await addAccount();
    const page = await drawn(await openPage('/app/images', { account, width: 320, height: 640 }));
    await chooseFiles(page, page.getByRole('button', { name: 'Choose files' }), {
      name: `${name.replaceAll('/', '_')}.png`,
      mimeType: 'image/png',
      buffer: pngIcon(),
    });
    await page.getByText('1 of 30 pictures').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Delete/ }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No pictures yet').waitFor();
  });
});
