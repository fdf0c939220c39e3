import { setTimeout as pause } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, sql } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;
type Portal = ReturnType<typeof portalOf>;
type Config = Record<string, unknown>;
interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** A dashboard of an account, and what the service has of it. */
async function dashboardOf(account: Account) {
  const portal = portalOf(account);
  const [tab] = await portal.get('/dashboard/tabs');
  const path = { id: tab?.id ?? '' };
  return {
    id: path.id,
    portal,
    add: async (type: string, config: Config = {}) =>
      (await portal.post('/dashboard/tabs/{id}/widgets', { params: { path }, body: { type, config } })).id,
    layout: () => portal.get('/dashboard/tabs/{id}/layout', { params: { path } }),
    widgets: () => portal.get('/dashboard/tabs/{id}/widgets', { params: { path } }),
    put: (body: Parameters<typeof putLayout>[2]) => putLayout(portal, path.id, body),
    /** Where a widget stands at the widest breakpoint. */
    place: async (id: string): Promise<Place | undefined> => {
      const { layouts } = await portal.get('/dashboard/tabs/{id}/layout', { params: { path } });
      const found = layouts.lg.find(({ i }) => i === id);
      return found && { x: found.x, y: found.y, w: found.w, h: found.h };
    },
  };
}

const putLayout = (
  portal: Portal,
  id: string,
  body: { __gridVersion?: number; layouts: Partial<Record<string, (Place & { i: string })[]>>; revision?: number },
) => portal.put('/dashboard/tabs/{id}/layout', { params: { path: { id } }, body });

/** A clock on the left and a note beside it. */
async function clockAndNote(account: Account) {
  const dashboard = await dashboardOf(account);
  const clock = await dashboard.add('clock');
  const note = await dashboard.add('notes', { text: 'Remember the milk' });
  await dashboard.put({
    __gridVersion: 2,
    layouts: {
      lg: [
        { i: clock, x: 0, y: 0, w: 6, h: 8 },
        { i: note, x: 6, y: 0, w: 6, h: 8 },
      ],
    },
  });
  return { ...dashboard, clock, note };
}

const tile = (page: Page, name: string) => page.getByRole('article', { name, exact: true });
const handle = (page: Page, name: string) => page.getByRole('button', { name: `${name}: move` });
const bar = (page: Page) => page.getByRole('group', { name: 'Edit dashboard' });
const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
const item = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true });

async function openDashboard(account: Account, path = '/app', look = {}): Promise<Page> {
  return drawn(await openPage(path, { account, ...look }));
}

async function edit(page: Page): Promise<void> {
  await button(page, 'Edit').click();
  await bar(page).waitFor();
}

async function save(page: Page): Promise<void> {
  await button(bar(page), 'Save').click();
  await page.getByText('The dashboard is saved.').first().waitFor();
  await bar(page).waitFor({ state: 'hidden' });
}

/** Drags from the middle of an element by these pixels. */
async function drag(page: Page, from: Locator, by: { x: number; y: number }): Promise<void> {
  const box = await boxOf(from);
  const start = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(start.x + by.x, start.y + by.y, { steps: 12 });
  await page.mouse.up();
}

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element is not drawn');
  return box;
}

/** What screen readers last heard in edit mode. */
const spoken = (page: Page, text: RegExp | string) =>
  page.getByRole('status').filter({ hasText: text }).first().waitFor();

describe.skipIf(!hasBrowser)('dashboards', () => {
  const tabs = (page: Page) => page.getByRole('navigation', { name: 'Dashboards' }).getByRole('link').allTextContents();
  const menuOf = (page: Page, name: string) => button(page, `Actions for “${name}”`);

  it('keep the last of several orders when the first reaches the service late', async () => {
    const account = await addAccount();
    const portal = portalOf(account);
    await portal.get('/dashboard/tabs');
    for (const name of ['Second', 'Third']) await portal.post('/dashboard/tabs', { body: { name } });
    const page = await openDashboard(account);
    await page.getByRole('link', { name: 'Third' }).click();
    let [asked, answered] = [0, 0];
    const shown = Promise.withResolvers<void>();
    await page.route('**/dashboard/tabs/order', async (route) => {
      asked += 1;
      if (asked === 1) await shown.promise.then(() => pause(300));
      await route.continue();
    });
    page.on('response', (response) => (answered += response.url().endsWith('/dashboard/tabs/order') ? 1 : 0));
    const expected = [
      ['Dashboard 1', 'Third', 'Second'],
      ['Third', 'Dashboard 1', 'Second'],
    ];
    for (const order of expected) {
      await menuOf(page, 'Third').click();
      await item(page, 'Move left').click();
      await expect.poll(() => tabs(page)).toEqual(order);
    }
    shown.resolve();
    const last = expected.at(-1);
    await expect.poll(() => answered).toBe(2);
    expect((await portal.get('/dashboard/tabs')).map(({ name }) => name)).toEqual(last);
    expect(await tabs(page)).toEqual(last);
  });

  it('are made, renamed, ordered and deleted, the question names what goes, and the last one stays', async () => {
    const account = await addAccount();
    const portal = portalOf(account);
    const page = await openDashboard(account);
    await button(page, 'New dashboard').click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Control room');
    await expectAccessible(page);
    await button(page.getByRole('dialog'), 'Create').click();
    await page.getByRole('heading', { level: 1, name: 'Control room' }).waitFor({ state: 'attached' });
    expect(await tabs(page)).toEqual(['Dashboard 1', 'Control room']);

    await menuOf(page, 'Control room').click();
    await item(page, 'Rename').click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Leitstelle');
    await button(page.getByRole('dialog'), 'Save').click();
    await menuOf(page, 'Leitstelle').click();
    await item(page, 'Move left').click();
    await expect.poll(() => tabs(page)).toEqual(['Leitstelle', 'Dashboard 1']);
    await expect
      .poll(async () => (await portal.get('/dashboard/tabs')).map(({ name }) => name))
      .toEqual(['Leitstelle', 'Dashboard 1']);

    const [renamed] = await portal.get('/dashboard/tabs');
    const tabId = renamed?.id ?? '';
    const add = async (type: string) =>
      portal.post('/dashboard/tabs/{id}/widgets', { params: { path: { id: tabId } }, body: { type, config: {} } });
    const { id: widgetId } = await add('favorites');
    await add('clock');
    await portal.post('/favorites', { body: { widgetId, title: 'Weather', url: 'https://weather.example.org' } });
    await page.reload();
    await drawn(page);
    await menuOf(page, 'Leitstelle').click();
    await item(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: 'Delete “Leitstelle”?' });
    await dialog.getByText('2 tiles and 1 favorite are deleted with it.').waitFor();
    // On a slow device, the dialog is drawn again before it closes. It must not ask for what was deleted.
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    await button(dialog, 'Delete').click();
    await expect.poll(() => tabs(page)).toEqual(['Dashboard 1']);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    expect((await portal.get('/dashboard/tabs')).map(({ name }) => name)).toEqual(['Dashboard 1']);

    await menuOf(page, 'Dashboard 1').click();
    await item(page, 'Delete').click();
    await page
      .getByText(/last dashboard|only dashboard/i)
      .first()
      .waitFor();
  });

  it('one that was deleted in another window says so and gives way to the first one, and they end at twenty', async () => {
    const account = await addAccount();
    const portal = portalOf(account);
    await portal.get('/dashboard/tabs');
    const { id } = await portal.post('/dashboard/tabs', { body: { name: 'Control room' } });
    allow('404 ', '409 POST /dashboard/tabs');
    const page = await openDashboard(account);
    await portal.delete('/dashboard/tabs/{id}', { params: { path: { id } } });
    await page.getByRole('link', { name: 'Control room' }).click();
    await page.getByText('This dashboard no longer exists').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Dashboard 1' }).waitFor({ state: 'attached' });
    expect(await tabs(page)).toEqual(['Dashboard 1']);

    for (let n = 0; n < 19; n += 1) await portal.post('/dashboard/tabs', { body: { name: `Room ${n}` } });
    await button(page, 'New dashboard').click();
    await button(page.getByRole('dialog'), 'Create').click();
    await page.getByRole('dialog').getByRole('alert').getByText('TAB_LIMIT').waitFor();
  });
});

describe.skipIf(!hasBrowser)('a new tile', () => {
  const kinds: [label: string, settings?: (dialog: Locator) => Promise<unknown>][] = [
    ['Favorites'],
    ['Reminders'],
    ['Calendar'],
    ['Note'],
    ['Clock'],
    ['Picture frame'],
    [
      'Embedded page',
      (dialog) => dialog.getByRole('textbox', { name: 'Address' }).fill('https://weather.example.org/'),
    ],
    ['Tenders'],
    ['Virtualization'],
    ['Backup'],
    ['Mail gateway'],
    ['Cloud status'],
  ];

  it('of each of the twelve types is added, saved and there after reloading', async () => {
    allow('other host: https://weather.example.org');
    const account = await addAccount({ role: 'ADMIN' });
    const page = await openDashboard(account);
    await page.context().route('https://weather.example.org/**', (route) => route.fulfill({ body: 'Sunny' }));
    await page.getByText('No tiles yet').waitFor();
    // An empty dashboard offers the first one itself.
    for (const [n, [label, settings]] of kinds.entries()) {
      if (n === 0) await page.getByRole('main').getByRole('button', { name: 'Add tile' }).click();
      else await button(bar(page), 'Add tile').click();
      const types = page.getByRole('dialog', { name: 'Add tile' });
      if (n === 0) {
        await types.getByRole('listitem').first().waitFor();
        expect(await types.getByRole('listitem').count()).toBe(kinds.length);
        await expectAccessible(page);
      }
      await types.getByRole('button', { name: new RegExp(`^${label}`) }).click();
      await types.waitFor({ state: 'hidden' });
      const dialog = page.getByRole('dialog', { name: label });
      if (label !== 'Note') {
        await settings?.(dialog);
        await button(dialog, 'Add').click();
      }
      await dialog.waitFor({ state: 'hidden' });
      await expect.poll(() => page.getByRole('article').count()).toBe(n + 1);
    }
    await save(page);
    await expectAccessible(page);
    await page.reload();
    await drawn(page);
    expect(await page.getByRole('article').count()).toBe(kinds.length);
    for (const [label] of kinds)
      await page.getByRole('article', { name: label === 'Embedded page' ? 'weather.example.org' : label }).waitFor();
    const { widgets } = await dashboardOf(account);
    expect(new Set((await widgets()).map(({ type }) => type)).size).toBe(kinds.length);
  });

  it('is offered only for modules that the account may use, and a setting that is refused is marked and kept', async () => {
    allow('400 POST /dashboard/tabs/:id/widgets');
    const page = await openDashboard(await addAccount());
    await page.getByRole('main').getByRole('button', { name: 'Add tile' }).click();
    const types = page.getByRole('dialog', { name: 'Add tile' });
    await types.getByRole('listitem').first().waitFor();
    expect(await types.getByRole('listitem').count()).toBe(6);
    expect(await types.getByRole('button', { name: /^Cloud status/ }).count()).toBe(0);
    await types.getByRole('button', { name: /^Embedded page/ }).click();
    const address = page.getByRole('dialog').getByRole('textbox', { name: 'Address' });
    await address.fill('http://weather.example.org/');
    await button(page.getByRole('dialog'), 'Add').click();
    await page.getByRole('dialog').locator('[aria-invalid="true"]').waitFor();
    expect(await address.inputValue()).toBe('http://weather.example.org/');
    expect(await page.getByRole('article').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('a tile', () => {
  it('moves and is resized by pointer, the others make room, and a drag can be given up', async () => {
    const account = await addAccount();
    const { place, clock, note } = await clockAndNote(account);
    const page = await openDashboard(account);
    await edit(page);
    const box = await boxOf(tile(page, 'Clock'));
    const start = await boxOf(handle(page, 'Clock'));
    await page.mouse.move(start.x + 20, start.y + 10);
    await page.mouse.down();
    await page.mouse.move(start.x + 600, start.y + 200, { steps: 12 });
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await expect.poll(() => boxOf(tile(page, 'Clock'))).toEqual(box);
    await button(bar(page), 'Done').waitFor();

    await page.mouse.move(box.x + box.width - 6, box.y + box.height - 6);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 6, box.y + box.height + 106, { steps: 12 });
    await page.mouse.up();
    await save(page);
    // 28 px a row
    expect(await place(clock)).toEqual({ x: 0, y: 0, w: 6, h: 12 });

    await edit(page);
    await drag(page, handle(page, 'Clock'), { x: box.width + 20, y: 0 });
    const moved = await boxOf(tile(page, 'Clock'));
    await save(page);
    const clockPlace = await place(clock);
    expect(clockPlace?.x).toBeGreaterThanOrEqual(6);
    const notePlace = await place(note);
    // They lie apart.
    expect(clockPlace?.y === notePlace?.y && clockPlace?.x === notePlace?.x).toBe(false);
    await page.reload();
    await drawn(page);
    expect(Math.abs((await boxOf(tile(page, 'Clock'))).x - moved.x)).toBeLessThan(3);
  });

  it('moves and is resized by keyboard alone, and each step is spoken', async () => {
    const account = await addAccount();
    const { place, clock, note } = await clockAndNote(account);
    const page = await openDashboard(account);
    await button(page, 'Edit').focus();
    await page.keyboard.press('Enter');
    await bar(page).waitFor();
    await handle(page, 'Clock').focus();
    await page.keyboard.press('Enter');
    await spoken(page, 'Clock is grabbed. column 1, row 1.');
    await page.keyboard.press('ArrowRight');
    await spoken(page, /^Clock: column \d+, row \d+/i);
    await page.keyboard.press('Escape');
    await spoken(page, 'Clock is back in its old place. column 1, row 1.');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+ArrowDown');
    await spoken(page, 'Clock: 6 columns wide, 9 rows high');
    await page.keyboard.press('Shift+ArrowLeft');
    await spoken(page, 'Clock: 5 columns wide, 9 rows high');
    await page.keyboard.press('Enter');
    await spoken(page, 'Clock is dropped.');
    await handle(page, 'Note').focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    // To the command that saves, still without a pointer.
    await button(bar(page), 'Save').focus();
    await page.keyboard.press('Enter');
    await page.getByText('The dashboard is saved.').first().waitFor();
    expect(await place(clock)).toEqual({ x: 0, y: 0, w: 5, h: 9 });
    expect(await place(note)).toBeDefined();
    // The focus is not lost when the command is gone.
    await expect.poll(() => button(page, 'Edit').evaluate((one) => one === document.activeElement)).toBe(true);
  });

  it('moves, is resized and is configured by the commands of its menu', async () => {
    const account = await addAccount();
    const { place, clock } = await clockAndNote(account);
    const page = await openDashboard(account);
    await edit(page);
    const choose = async (name: string) => {
      await button(page, 'Actions for “Clock”').click();
      await item(page, name).click();
    };
    for (const name of ['Taller', 'Taller', 'Shorter', 'Narrower', 'Wider', 'Wider']) await choose(name);
    await save(page);
    expect(await place(clock)).toMatchObject({ w: 8, h: 10 });
    await edit(page);
    await choose('Move down');
    await choose('Move right');
    await expectAccessible(page);
    await save(page);
    expect((await place(clock))?.x).toBe(2);

    await edit(page);
    await choose('Settings');
    const dialog = page.getByRole('dialog', { name: 'Clock: settings' });
    await dialog
      .getByRole('switch', { name: /seconds/i })
      .or(dialog.getByRole('checkbox', { name: /seconds/i }))
      .check();
    await expectAccessible(page);
    await button(dialog, 'Save').click();
    await dialog.waitFor({ state: 'hidden' });
    await tile(page, 'Clock')
      .getByText(/\d\d:\d\d:\d\d/)
      .waitFor();
  });

  it('goes with the next save, comes back before, and moves to another dashboard', async () => {
    const account = await addAccount();
    const { portal, widgets, clock, note } = await clockAndNote(account);
    const { id } = await portal.post('/dashboard/tabs', { body: { name: 'Control room' } });
    const page = await openDashboard(account);
    await edit(page);
    const remove = async () => {
      await button(page, 'Actions for “Clock”').click();
      await item(page, 'Remove').click();
      await tile(page, 'Clock').waitFor({ state: 'hidden' });
    };
    await remove();
    await button(page, 'Undo').click();
    await tile(page, 'Clock').waitFor();
    await remove();
    expect((await widgets()).length).toBe(2);
    await save(page);
    expect((await widgets()).map((widget) => widget.id)).not.toContain(clock);

    await edit(page);
    await button(page, 'Actions for “Note”').click();
    await item(page, 'Move to another dashboard').click();
    await button(page.getByRole('dialog'), 'Move').click();
    await page.getByText('“Note” is now on “Control room”.').waitFor();
    await tile(page, 'Note').waitFor({ state: 'hidden' });
    await button(bar(page), 'Done').click();
    await page.getByRole('link', { name: 'Control room' }).click();
    await tile(page, 'Note').getByText('Remember the milk').waitFor();
    const there = await portal.get('/dashboard/tabs/{id}/widgets', { params: { path: { id } } });
    expect(there.map((widget) => widget.id)).toEqual([note]);
  });

  it('that fails or that this page does not know says so, leaves the others alone, and can be tried again', async () => {
    const account = await addAccount();
    const { id, add, clock } = await clockAndNote(account);
    await add('reminders');
    await sql(`update dashboard_widgets set type = 'hologram' where id = $1`, [clock]);
    allow('500 GET /reminders');
    const page = await openPage('about:blank', { account });
    await page.route('**/reminders', (route) =>
      route.fulfill({ status: 500, json: { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong.' } }),
    );
    await page.goto(`/app/tabs/${id}`);
    await button(tile(page, 'Reminders'), 'Try again').waitFor();
    await tile(page, 'Unknown tile').getByText('“hologram”').waitFor();
    await tile(page, 'Note').getByText('Remember the milk').waitFor();
    await expectAccessible(page);
    await page.unroute('**/reminders');
    await button(tile(page, 'Reminders'), 'Try again').click();
    await tile(page, 'Reminders').getByText('Nothing is coming up.').waitFor();
    await edit(page);
    await button(page, 'Actions for “Unknown tile”').click();
    await item(page, 'Move right').click();
    await save(page);
  });
});

describe.skipIf(!hasBrowser)('edit mode', () => {
  const choose = async (page: Page, name: string) => {
    await button(page, 'Actions for “Clock”').click();
    await item(page, name).click();
  };

  it('discards, takes the discarding back, and asks before a link leaves unsaved changes, and only then', async () => {
    const account = await addAccount();
    const { place, clock } = await clockAndNote(account);
    const page = await openDashboard(account);
    const before = await boxOf(tile(page, 'Clock'));
    await edit(page);
    await drag(page, handle(page, 'Clock'), { x: 700, y: 0 });
    await button(bar(page), 'Discard').click();
    await bar(page).waitFor({ state: 'hidden' });
    await expect
      .poll(() => boxOf(tile(page, 'Clock')).then(({ x, width }) => ({ x, width })))
      .toEqual({ x: before.x, width: before.width });
    await button(page, 'Undo').click();
    await bar(page).waitFor();

    const link = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'Reminders' });
    await link.click();
    const dialog = page.getByRole('dialog', { name: 'Discard changes?' });
    await button(dialog, 'Cancel').click();
    await save(page);
    const stored = await place(clock);
    expect(stored).not.toEqual({ x: 0, y: 0, w: 6, h: 8 });
    await edit(page);
    await choose(page, 'Taller');
    await link.click();
    await button(dialog, 'Discard').click();
    await page.getByRole('heading', { level: 1, name: 'Reminders' }).waitFor();
    expect(await place(clock)).toEqual(stored);
    await page.goBack();
    await drawn(page);
    await edit(page);
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Reminders' }).waitFor();
  });

  it('keeps its changes while the service is away, and offers either side if the dashboard was changed elsewhere', async () => {
    const account = await addAccount();
    const { place, put, clock, note } = await clockAndNote(account);
    allow('503 PUT /dashboard/tabs/:id/layout', '409 PUT /dashboard/tabs/:id/layout');
    const page = await openDashboard(account);
    await edit(page);
    await choose(page, 'Taller');
    await page.route('**/layout', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { statusCode: 503, code: 'UNAVAILABLE' } }),
    );
    await button(bar(page), 'Save').click();
    const failed = page.getByRole('dialog', { name: 'Not saved' });
    await failed.waitFor();
    await page.unroute('**/layout');
    await button(failed, 'Try again').click();
    await page.getByText('The dashboard is saved.').first().waitFor();
    expect(await place(clock)).toMatchObject({ h: 10 });

    /** Another window saves another height. */
    const saveElsewhere = (h: number) =>
      put({
        __gridVersion: 2,
        layouts: {
          lg: [
            { i: clock, x: 0, y: 0, w: 6, h },
            { i: note, x: 6, y: 0, w: 6, h: 8 },
          ],
        },
      });
    const dialog = page.getByRole('dialog', { name: 'Changed elsewhere' });
    await edit(page);
    await choose(page, 'Wider');
    await saveElsewhere(12);
    await button(bar(page), 'Save').click();
    await dialog.waitFor();
    await expectAccessible(page);
    // Neither is chosen.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await button(bar(page), 'Save').click();
    await button(dialog, 'Mine').click();
    await bar(page).waitFor({ state: 'hidden' });
    expect(await place(clock)).toEqual({ x: 0, y: 0, w: 8, h: 10 });

    await edit(page);
    await choose(page, 'Taller');
    await saveElsewhere(14);
    await button(bar(page), 'Save').click();
    await button(dialog, 'The other one').click();
    await bar(page).waitFor({ state: 'hidden' });
    expect(await place(clock)).toEqual({ x: 0, y: 0, w: 6, h: 14 });
    await expect.poll(async () => Math.round((await boxOf(tile(page, 'Clock'))).height)).toBe(14 * 28 - 8);
  });
});

describe.skipIf(!hasBrowser)('a layout', () => {
  it('that becomes one of a newer grid while it is edited is not overwritten, and is shown and not edited from then on', async () => {
    const account = await addAccount();
    const { id, clock } = await clockAndNote(account);
    allow('409 PUT /dashboard/tabs/:id/layout');
    const page = await openDashboard(account);
    await edit(page);
    await button(page, 'Actions for “Clock”').click();
    await item(page, 'Wider').click();
    await sql('update dashboard_tabs set grid_version = 3 where id = $1', [id]);
    await button(bar(page), 'Save').click();
    const dialog = page.getByRole('dialog', { name: 'Not saved' });
    await dialog.getByText('newer version of the portal').waitFor();
    await button(dialog, 'Discard').click();
    await bar(page).waitFor({ state: 'hidden' });
    expect(await button(page, 'Edit').count()).toBe(0);
    const [row] = await sql<{ w: number }>(
      `select (item->>'w')::int as w from dashboard_tabs, jsonb_array_elements(layouts->'lg') item where id = $1 and item->>'i' = $2`,
      [id, clock],
    );
    expect(row?.w).toBe(6);

    await page.reload();
    await page.getByText('arranged with a newer version of the portal').waitFor();
    await tile(page, 'Clock').waitFor();
    expect(await button(page, 'Edit').count()).toBe(0);
    await expectAccessible(page);
  });

  it('of the old grid is shown where it was, in the new one', async () => {
    const account = await addAccount();
    const { id, put, layout, clock, note } = await clockAndNote(account);
    await sql(
      'update dashboard_tabs set grid_version = null, layouts = null, layout_updated_at = null, layout_revision = 0 where id = $1',
      [id],
    );
    await put({
      __gridVersion: 1,
      layouts: {
        lg: [
          { i: clock, x: 6, y: 0, w: 6, h: 3 },
          { i: note, x: 0, y: 0, w: 6, h: 3 },
        ],
      },
    });
    const page = await openDashboard(account);
    const [clockBox, noteBox] = [await boxOf(tile(page, 'Clock')), await boxOf(tile(page, 'Note'))];
    expect(clockBox.x).toBeGreaterThan(noteBox.x + noteBox.width);
    expect(Math.abs(clockBox.width - noteBox.width)).toBeLessThan(2);
    expect(Math.round(clockBox.height)).toBe(6 * 28 - 8);
    expect(await layout()).toMatchObject({ __gridVersion: 2 });
  });

  it('of a telephone is one column, and is stored apart once it is changed', async () => {
    const account = await addAccount();
    const { layout, place, clock } = await clockAndNote(account);
    const page = await openDashboard(account, '/app', { width: 320, height: 640 });
    const [clockBox, noteBox] = [await boxOf(tile(page, 'Clock')), await boxOf(tile(page, 'Note'))];
    expect(noteBox.x).toBe(clockBox.x);
    expect(noteBox.y).toBeGreaterThanOrEqual(clockBox.y + clockBox.height);
    expect(clockBox.width).toBeGreaterThan(260);
    expect((await layout()).layouts.xxs).toEqual([]);
    await edit(page);
    await page.getByText('Layout for phones').waitFor();
    await button(page, 'Actions for “Note”').click();
    await item(page, 'Move up').click();
    await expectAccessible(page);
    await save(page);
    expect((await boxOf(tile(page, 'Note'))).y).toBeLessThan((await boxOf(tile(page, 'Clock'))).y);
    const { layouts } = await layout();
    expect(layouts.xxs.length).toBe(2);
    // The wide one is what it was.
    expect(await place(clock)).toEqual({ x: 0, y: 0, w: 6, h: 8 });
    expect(layouts.sm).toEqual([]);
  });

  it('follows the width of the window', async () => {
    const account = await addAccount();
    await clockAndNote(account);
    const page = await openDashboard(account);
    for (const [width, scope] of [
      [1440, 'Layout for very wide windows'],
      [1200, /Layout for (very )?wide windows/],
      [800, 'Layout for medium windows'],
      [320, 'Layout for phones'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      // The navigation begins collapsed in windows that are not wide.
      if (width === 800) await page.reload();
      await edit(page);
      await bar(page).getByText(scope).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      await button(bar(page), 'Done').click();
      await bar(page).waitFor({ state: 'hidden' });
    }
  });

  it('of sixty tiles is dragged, saved and free of overlaps', async () => {
    const account = await addAccount();
    const { add, put, layout } = await dashboardOf(account);
    const ids: string[] = [];
    for (let n = 0; n < 60; n += 1) ids.push(await add('notes', { text: `Note ${n}` }));
    const lg = ids.map((i, n) => ({ i, x: (n % 4) * 6, y: Math.floor(n / 4) * 6, w: 6, h: 6 }));
    await put({ __gridVersion: 2, layouts: { lg } });
    const page = await openDashboard(account);
    await edit(page);
    await drag(page, handle(page, 'Note').first(), { x: 500, y: 400 });
    await save(page);
    const { layouts } = await layout();
    expect(layouts.lg.length).toBe(60);
    expect(layouts.lg.find(({ i }) => i === ids[0])).not.toMatchObject({ x: 0, y: 0 });
    const overlapping = layouts.lg.filter((a) =>
      layouts.lg.some((b) => a.i !== b.i && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h),
    );
    expect(overlapping).toEqual([]);
  });
});
