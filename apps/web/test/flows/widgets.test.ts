import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { pngIcon } from '@portal/testing/icons';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, make, sql, service } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;

const tile = (page: Page, name: string) => page.getByRole('article', { name, exact: true });

/** Adds a widget to the first dashboard, which is then shown; `prepare` gets the page before. */
async function openWith(
  account: Account,
  type: string,
  config: Record<string, unknown> = {},
  prepare: (page: Page) => Promise<unknown> = () => Promise.resolve(),
) {
  const portal = portalOf(account);
  const [tab] = await portal.get('/dashboard/tabs');
  const path = { id: tab?.id ?? '' };
  const widget = await portal.post('/dashboard/tabs/{id}/widgets', { params: { path }, body: { type, config } });
  const configOf = async () =>
    (await portal.get('/dashboard/tabs/{id}/widgets', { params: { path } })).find(({ id }) => id === widget.id)?.config;
  const page = await openPage('about:blank', { account });
  await prepare(page);
  await page.goto('/app');
  return { portal, id: widget.id, configOf, page: await drawn(page) };
}

/** Holds POST calls to this path back. Returns a function that lets them go on. */
async function holdPosts(page: Page, path: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(path, async (route) => {
    if (route.request().method() === 'POST') await promise;
    await route.continue();
  });
  return resolve;
}

describe.skipIf(!hasBrowser)('favorites', () => {
  it('keep what is typed while another one is being added', async () => {
    const { page } = await openWith(await addAccount(), 'favorites');
    await tile(page, 'Favorites').getByRole('button', { name: 'Add favorites' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit favorites' });
    const letGo = await holdPosts(page, '**/favorites');
    const address = dialog.getByRole('textbox', { name: 'Address' });
    await address.fill('https://wiki.example.org/');
    await address.press('Enter');
    await address.fill('https://time.example.org/');
    letGo();
    await dialog.getByRole('listitem').waitFor();
    expect(await address.inputValue()).toBe('https://time.example.org/');
  });

  it('are added, ordered by keyboard, changed, given an icon, deleted and brought back', async () => {
    const account = await addAccount();
    const { portal, id, page } = await openWith(account, 'favorites');
    const stored = async () =>
      (await portal.get('/favorites', { params: { query: { widgetId: id } } })).map(({ title }) => title);
    await tile(page, 'Favorites').getByRole('button', { name: 'Add favorites' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit favorites' });
    const add = async (address: string, name: string) => {
      await dialog.getByRole('textbox', { name: 'Address' }).fill(address);
      await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.keyboard.press('Enter');
      await expect.poll(() => dialog.getByRole('textbox', { name: 'Address' }).inputValue()).toBe('');
    };
    // The form takes the next one while the list is read.
    await page.route('**/favorites?*', async (route) => {
      await pause(500);
      await route.continue();
    });
    await add('https://wiki.example.org/', 'Wiki');
    // Without a scheme and a name, as people type.
    await add('weather.example.org', '');
    await add('https://time.example.org/', 'Time');
    await dialog.getByRole('listitem').nth(2).waitFor();
    await page.unroute('**/favorites?*');
    expect(await stored()).toEqual(['Wiki', 'weather.example.org', 'Time']);
    await expectAccessible(page);

    // The first order reaches the service late.
    let [asked, answered] = [0, 0];
    await page.route('**/favorites/order', async (route) => {
      asked += 1;
      if (asked === 1) await pause(500);
      await route.continue();
    });
    page.on('response', (response) => (answered += response.url().endsWith('/favorites/order') ? 1 : 0));
    await dialog.getByRole('button', { name: 'Time: move up' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await expect.poll(() => answered).toBe(2);
    expect(await stored()).toEqual(['Time', 'Wiki', 'weather.example.org']);

    await dialog.getByRole('button', { name: 'Wiki: change' }).click();
    const form = dialog.getByRole('form', { name: 'Wiki: change' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Handbook');
    await chooseFiles(page, dialog.getByRole('button', { name: 'Choose file' }), {
      name: 'icon.png',
      mimeType: 'image/png',
      buffer: pngIcon({ side: 48 }),
    });
    await dialog.getByRole('button', { name: 'Remove icon' }).waitFor();
    await form.getByRole('button', { name: 'Save' }).click();
    await expect.poll(stored).toEqual(['Time', 'Handbook', 'weather.example.org']);

    await dialog.getByRole('button', { name: 'Handbook: delete' }).click();
    await expect.poll(stored).toEqual(['Time', 'weather.example.org']);
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(stored).toEqual(['Time', 'Handbook', 'weather.example.org']);
    await dialog.getByRole('button', { name: 'Done' }).click();

    await page.reload();
    const links = tile(page, 'Favorites').getByRole('link');
    await expect.poll(() => links.allTextContents()).toEqual(['TTime', 'Handbook', 'Wweather.example.org']);
    const link = tile(page, 'Favorites').getByRole('link', { name: 'Handbook' });
    expect(await link.getAttribute('href')).toBe('https://wiki.example.org/');
    expect(await link.getAttribute('rel')).toContain('noopener');
    const icon = link.locator('img');
    await expect.poll(() => icon.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    await expectAccessible(page);
  });

  it('are dragged into another order, and one with an address that is none keeps what was typed', async () => {
    allow('400 POST /favorites');
    const account = await addAccount();
    const { portal, id, page } = await openWith(account, 'favorites');
    await tile(page, 'Favorites').getByRole('button', { name: 'Add favorites' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit favorites' });
    const address = dialog.getByRole('textbox', { name: 'Address' });
    await address.fill('javascript:alert(1)');
    await page.keyboard.press('Enter');
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await address.inputValue()).toBe('javascript:alert(1)');

    for (const title of ['One', 'Two', 'Three'])
      await portal.post('/favorites', { body: { widgetId: id, title, url: 'https://example.org/' } });
    await page.reload();
    await tile(page, 'Favorites').getByRole('button', { name: 'Edit' }).click();
    const last = dialog.getByRole('listitem').nth(2);
    await last.waitFor();
    const from = await dialog.getByTitle('Drag to change the order').first().boundingBox();
    const to = await last.boundingBox();
    if (!from || !to) throw new Error('the list is not drawn');
    await page.mouse.move(from.x + 4, from.y + 4);
    await page.mouse.down();
    await page.mouse.move(from.x + 4, to.y + to.height - 2, { steps: 10 });
    await page.mouse.up();
    await expect
      .poll(async () =>
        (await portal.get('/favorites', { params: { query: { widgetId: id } } })).map(({ title }) => title),
      )
      .toEqual(['Two', 'Three', 'One']);
  });
});

describe.skipIf(!hasBrowser)('a note', () => {
  const write = async (page: Page, text: string) => {
    await tile(page, 'Note').getByRole('button', { name: 'Edit note' }).click();
    await tile(page, 'Note').getByRole('textbox', { name: 'Note' }).fill(text);
  };

  it('saves itself, is there after reloading, with its links, and is saved when its window is left at once', async () => {
    const { page, configOf } = await openWith(await addAccount(), 'notes');
    await write(page, 'Milk and bread\nhttps://shop.example.org/list');
    await tile(page, 'Note').getByText('Saved').waitFor();
    expect(await configOf()).toEqual({ text: 'Milk and bread\nhttps://shop.example.org/list' });
    await page.keyboard.press('Escape');
    await tile(page, 'Note').getByRole('link', { name: 'https://shop.example.org/list' }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await tile(page, 'Note').getByText('Milk and bread').waitFor();
    await write(page, 'In a hurry');
    await page.getByRole('main').focus();
    await expect.poll(configOf).toEqual({ text: 'In a hurry' });
  });

  it('outlives a service that is away, and a reload meanwhile, and is saved when it is back', async () => {
    const { page, configOf } = await openWith(await addAccount(), 'notes', { text: 'Before' });
    allow('unreachable ', '503 PATCH /dashboard/widgets/:id');
    await page.route('**/*', (route) => route.abort('connectionrefused'));
    await write(page, 'Written while nobody listened');
    await tile(page, 'Note').getByText('Not saved.').waitFor();
    expect(await tile(page, 'Note').getByRole('textbox').inputValue()).toBe('Written while nobody listened');
    await page.unroute('**/*');
    await expect.poll(configOf).toEqual({ text: 'Written while nobody listened' });

    await page.route('**/dashboard/widgets/*', (route) =>
      route.fulfill({ status: 503, json: { statusCode: 503, code: 'UNAVAILABLE', message: 'Not now.' } }),
    );
    await tile(page, 'Note').getByRole('textbox').fill('Only here');
    await tile(page, 'Note').getByText('Not saved.').waitFor();
    await page.unroute('**/dashboard/widgets/*');
    await page.reload();
    await tile(page, 'Note').getByText('Only here').waitFor();
    await expect.poll(configOf).toEqual({ text: 'Only here' });
  });
});

describe.skipIf(!hasBrowser)('the reminders', () => {
  it('keep what is typed while another one is being added', async () => {
    const { page } = await openWith(await addAccount(), 'reminders');
    const reminders = tile(page, 'Reminders');
    const subject = reminders.getByRole('textbox', { name: 'What would you like to be reminded of?' });
    const letGo = await holdPosts(page, '**/reminders');
    await subject.fill('Water the plants');
    await subject.press('Enter');
    await subject.fill('Buy seeds');
    letGo();
    await reminders.getByRole('listitem').waitFor();
    expect(await subject.inputValue()).toBe('Buy seeds');
  });

  it('are added, done and snoozed in the tile', async () => {
    const account = await addAccount();
    for (const title of ['Feed the cat', 'Feed the dog'])
      await make.reminder(account, { title, dueAt: new Date(Date.now() - 60_000) });
    const { page, portal } = await openWith(account, 'reminders', { showDone: true });
    const reminders = tile(page, 'Reminders');
    const subject = reminders.getByRole('textbox', { name: 'What would you like to be reminded of?' });
    await subject.fill('Water the plants');
    await reminders.getByRole('combobox', { name: 'When?' }).selectOption('Tomorrow morning, 8:00');
    // The form takes the next one while the list is read.
    await page.route('**/reminders', async (route) => {
      if (route.request().method() === 'GET') await pause(500);
      await route.continue();
    });
    await reminders.getByRole('button', { name: 'Add reminder' }).click();
    await expect.poll(() => subject.inputValue()).toBe('');
    await subject.fill('Buy seeds');
    await subject.press('Enter');
    await reminders.getByRole('listitem').filter({ hasText: 'Buy seeds' }).waitFor();
    await page.unroute('**/reminders');
    await reminders.getByRole('listitem').filter({ hasText: 'Water the plants' }).waitFor();
    await expectAccessible(page);
    await reminders.getByRole('button', { name: 'Done: Feed the cat' }).click();
    await page.getByText('The reminder is done.').first().waitFor();
    await reminders.locator('s', { hasText: 'Feed the cat' }).waitFor();
    await reminders.getByRole('button', { name: 'Remind me later: Feed the dog' }).click();
    await page.getByRole('menuitem', { name: 'In 1 hour' }).click();
    await page
      .getByText(/^Due again/)
      .first()
      .waitFor();
    const titles = (await portal.get('/reminders')).map(({ title }) => title);
    expect(titles.toSorted()).toEqual(['Buy seeds', 'Feed the dog', 'Water the plants']);
  });
});

describe.skipIf(!hasBrowser)('a picture frame', () => {
  it('shows pictures that are uploaded in its settings, one after the other', async () => {
    const { page, configOf } = await openWith(await addAccount(), 'picture-frame');
    await tile(page, 'Picture frame').getByText('Choose pictures in the settings of this tile.').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Actions for “Picture frame”' }).click();
    await page.getByRole('menuitem', { name: 'Settings' }).click();
    const dialog = page.getByRole('dialog');
    const png = (name: string, side: number) => ({ name, mimeType: 'image/png', buffer: pngIcon({ side }) });
    await chooseFiles(
      page,
      dialog.getByRole('button', { name: 'Choose files' }),
      png('tower.png', 64),
      png('river.png', 65),
    );
    await dialog.getByText('2 chosen.').waitFor();
    await dialog.getByRole('radio', { name: 'Show the whole picture' }).check();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    expect(await configOf()).toMatchObject({ imageIds: [expect.any(String), expect.any(String)], fit: 'contain' });
    await tile(page, 'Picture frame').getByRole('img', { name: 'tower' }).waitFor();
    await tile(page, 'Picture frame').hover();
    await tile(page, 'Picture frame').getByRole('button', { name: 'Next picture' }).click();
    await tile(page, 'Picture frame').getByRole('img', { name: 'river' }).waitFor();
    await expectAccessible(page);
  });
});

describe.skipIf(!hasBrowser)('an embedded page', () => {
  const weather = 'https://weather.example.org';

  it('is shown in a sandbox, without a referrer, and never that of the portal itself', async () => {
    const account = await addAccount();
    allow(`other host: ${weather}`);
    const referrers: (string | undefined)[] = [];
    const { page, id } = await openWith(
      account,
      'embedded-page',
      { url: `${weather}/berlin`, title: 'Weather' },
      (page) =>
        page.route(`${weather}/**`, (route) => {
          referrers.push(route.request().headers()['referer']);
          return route.fulfill({ contentType: 'text/html', body: '<h1>Sunny</h1>' });
        }),
    );
    await page.frameLocator('iframe').getByRole('heading', { name: 'Sunny' }).waitFor();
    expect(referrers).toEqual([undefined]);
    const frame = tile(page, 'Weather').locator('iframe');
    expect(await frame.getAttribute('sandbox')).toBe('allow-scripts allow-forms allow-same-origin allow-popups');
    await tile(page, 'Weather').getByRole('button', { name: 'Reload Weather' }).click();
    await expect.poll(() => referrers.length).toBe(2);

    await sql('update dashboard_widgets set config = $2 where id = $1', [
      id,
      JSON.stringify({ url: `${service.url}/app`, title: 'Weather' }),
    ]);
    await page.reload();
    await tile(page, 'Weather')
      .getByText(/begins with https|cannot embed itself/)
      .waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('a clock', () => {
  it('shows the time of its zone, wherever the browser is', async () => {
    const { page } = await openWith(await addAccount(), 'clock', { timeZone: 'Asia/Tokyo' });
    const tokyo = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Tokyo', hour: '2-digit', minute: '2-digit' });
    await expect
      .poll(async () => (await tile(page, 'Tokyo').locator('time').textContent())?.trim())
      .toBe(tokyo.format(Date.now()));
    await tile(page, 'Tokyo')
      .getByText(/GMT\+9/)
      .waitFor();
  });
});

describe.skipIf(!hasBrowser)('the clouds', () => {
  it('begin with the worst and count all, or are those that were chosen', async () => {
    const account = await addAccount({ role: 'ADMIN' });
    const checked = { lastCheckState: 'ok', checkedAt: new Date() } as const;
    const failed = { lastCheckState: 'failed', reportedState: 'failed', checkedAt: new Date() } as const;
    const add = (customerName: string, state: object) =>
      make.cloudInstance(account.tenantId, { customerName, ...state });
    const quiet = await add('A quiet one', checked);
    await add('Z down', failed);
    await sql(
      `insert into cloud_instances (id, tenant_id, customer_name, status_url, slot_sec, next_check_at)
       select gen_random_uuid(), tenant_id, 'Unknown ' || n, status_url, 0, next_check_at
       from cloud_instances, generate_series(1, 120) n where id = $1`,
      [quiet.id],
    );
    const { page } = await openWith(account, 'cloud-status');
    const rows = () => tile(page, 'Cloud status').getByRole('listitem');
    const words = async () => (await tile(page, 'Cloud status').textContent()) ?? '';
    expect(await rows().count()).toBe(100);
    expect(await rows().first().textContent()).toContain('Z down');
    for (const count of ['1 fault', '121 not checked', '… and 22 more']) expect(await words()).toContain(count);
    await expectAccessible(page);

    const { page: other } = await openWith(account, 'cloud-status', { instanceIds: [quiet.id] });
    const chosen = tile(other, 'Cloud status').last();
    await chosen.getByText('A quiet one').waitFor();
    expect(await chosen.getByRole('listitem').count()).toBe(1);
    expect(await chosen.textContent()).not.toContain('more');
  });
});

describe.skipIf(!hasBrowser)('the tile of a module', () => {
  it('that the account may no longer use says so, and stays', async () => {
    const admin = await addAccount({ role: 'ADMIN' });
    const account = await addAccount({ tenantId: admin.tenantId });
    const grant = { subjectType: 'user' as const, subjectId: account.id, moduleKey: 'calendar' };
    await portalOf(admin).put('/module-grants', { body: { ...grant, level: 'USE' } });
    const { page } = await openWith(account, 'calendar');
    await tile(page, 'Calendar').getByText('You have not added a calendar yet.').waitFor();
    await portalOf(admin).delete('/module-grants', { params: { query: grant } });
    allow('403 GET /calendar');
    await page.reload();
    await tile(page, 'Calendar').getByText('You no longer have access to this module.').waitFor();
    await expectAccessible(page);
  });
});
