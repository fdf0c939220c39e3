import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, sql } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;

const addAdmin = () => addAccount({ role: 'ADMIN' });
const open = async (account: Account, path: string, look = {}) =>
  drawn(await openPage(`/app/admin/${path}`, { account, ...look }));
const dialog = (page: Page) => page.getByRole('dialog').last();
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const confirm = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true }).click();
const toast = (page: Page, text: string) => page.getByRole('region', { name: 'Messages' }).getByText(text).waitFor();
const addGroup = (account: Account, internalName: string) =>
  portalOf(account).post('/groups', { body: { internalName } });
const membersOf = async (account: Account, id: string) =>
  (await portalOf(account).get('/groups/{id}/members', { params: { path: { id } } })).map(({ username }) => username);
const grantsOf = async (account: Account, name: string) =>
  (await portalOf(account).get('/module-grants/matrix')).subjects.find((one) => one.name === name)?.grants;

describe.skipIf(!hasBrowser)('groups', () => {
  it('are created, refuse rubbish and a name twice, and get members by keyboard', async () => {
    const admin = await addAdmin();
    for (const name of ['Anna Schmidt', 'Ben Braun', 'Clara Busch'])
      await addAccount({ tenantId: admin.tenantId, username: name.toLowerCase().replace(' ', '.'), displayName: name });
    await addGroup(admin, 'Sales');
    allow('400 POST /groups', '409 POST /groups');
    const page = await open(admin, 'groups');
    await press(page, 'New group');
    const name = dialog(page).getByRole('textbox', { name: 'Name' });
    await name.fill('   ');
    await name.press('Enter');
    await dialog(page).locator('[aria-invalid="true"]').waitFor();
    await name.fill('sales');
    await name.press('Enter');
    await dialog(page).getByText('Another group already has this name.').first().waitFor();
    expect(await name.inputValue()).toBe('sales');
    await name.fill('Accounting <b>');
    await name.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Accounting <b>' }).waitFor();
    const id = new URL(page.url()).searchParams.get('group') ?? '';

    await page.getByRole('button', { name: 'Add members' }).focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('searchbox', { name: 'Search accounts' }).waitFor();
    await page.keyboard.type('anna');
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('button', { name: 'Unpick Anna Schmidt' }).waitFor();
    // The field is empty for the next name; the arrow leads to the matches.
    await page.keyboard.type('ben braun');
    await dialog(page).getByRole('checkbox', { name: 'Ben Braun' }).waitFor();
    await dialog(page).getByRole('checkbox').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await dialog(page).getByRole('button', { name: 'Unpick Ben Braun' }).waitFor();
    // Matches of an earlier text are gone while a search runs.
    await page.route('**/users?*clara*', () => undefined);
    await dialog(page).getByRole('searchbox').fill('clara');
    await dialog(page).getByRole('checkbox').waitFor({ state: 'detached' });
    await page.unroute('**/users?*clara*');
    await dialog(page).getByRole('searchbox').fill('');
    await expectAccessible(page);
    await confirm(page, 'Add 2 accounts');
    await toast(page, 'Added: Anna Schmidt, Ben Braun');
    await page.getByRole('row', { name: /Anna Schmidt/ }).waitFor();
    expect(await membersOf(admin, id)).toEqual(['anna.schmidt', 'ben.braun']);
    await expectAccessible(page);

    // Another administrator adds a member meanwhile, who stays.
    const accounts = await portalOf(admin).get('/users', { params: { query: { tenantId: admin.tenantId } } });
    const idOf = (username: string) => accounts.find((one) => one.username === username)?.id ?? '';
    const userIds = ['anna.schmidt', 'ben.braun', 'clara.busch'].map(idOf);
    await portalOf(admin).put('/groups/{id}/members', { params: { path: { id } }, body: { userIds } });
    await press(page, 'Remove Anna Schmidt from the group');
    await page.getByRole('row', { name: /Clara Busch/ }).waitFor();
    expect(await membersOf(admin, id)).toEqual(['ben.braun', 'clara.busch']);
    await page.keyboard.press('Control+z');
    await page.getByRole('row', { name: /Anna Schmidt/ }).waitFor();
    expect(await membersOf(admin, id)).toEqual(['anna.schmidt', 'ben.braun', 'clara.busch']);
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await press(page, 'Remove 3 members');
    await page.getByText('No members yet.').waitFor();
  });

  it('are renamed only as the person has seen them, and deleted with a word on what goes', async () => {
    const admin = await addAdmin();
    const { id } = await addGroup(admin, 'Sales');
    const params = { path: { id } };
    await portalOf(admin).put('/groups/{id}/members', { params, body: { userIds: [admin.id] } });
    await portalOf(admin).put('/module-grants', {
      body: { subjectType: 'group', subjectId: id, moduleKey: 'calendar', level: 'USE' },
    });
    const page = await open(admin, 'groups');
    await press(page, 'Rename “Sales”');
    await portalOf(admin).patch('/groups/{id}', { params, body: { internalName: 'Sales north' } });
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Sales south');
    await confirm(page, 'Save');
    await dialog(page).getByText('Sales north').waitFor();
    await dialog(page).getByRole('button').nth(1).click();
    await toast(page, 'The group is now called “Sales south”.');
    await press(page, 'Delete “Sales south”');
    await dialog(page).getByText('Its member leaves it; the account remains.').waitFor();
    await dialog(page).getByText('Access through this group ends for: Calendar.').waitFor();
    await confirm(page, 'Delete');
    await page.getByText('No groups yet').waitFor();
    expect(await portalOf(admin).get('/groups')).toEqual([]);
  });

  it('from a directory say so and stay as they are', async () => {
    const admin = await addAdmin();
    const { id } = await addGroup(admin, 'Engineers');
    await sql(`update groups set directory_id = 'guid-1' where id = $1`, [id]);
    const page = await open(admin, `groups?q=engin`);
    const row = page.getByRole('row', { name: /Engineers/ });
    await row.getByText('Directory').waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    await row.getByRole('link').click();
    await page.getByText('This group comes from the directory').waitFor();
    expect(await page.getByRole('button', { name: /Add members|Rename|Delete/ }).count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('the grant matrix', () => {
  it('of 200 groups draws what is visible, works by keyboard, and saves collected changes that can be undone', async () => {
    const admin = await addAdmin();
    const names = Array.from({ length: 200 }, (_, n) => `Group ${String(n + 1).padStart(3, '0')}`);
    await sql(`insert into groups (id, tenant_id, internal_name) select gen_random_uuid(), $1, unnest($2::text[])`, [
      admin.tenantId,
      names,
    ]);
    await portalOf(admin).patch('/modules/{key}', { params: { path: { key: 'calendar' } }, body: { enabled: false } });
    const page = await open(admin, 'modules', { height: 500 });
    const grid = page.getByRole('grid', { name: 'Grants' });
    await grid.waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('201');
    expect(await grid.getByRole('row').count()).toBeLessThan(60);
    await grid.getByRole('columnheader', { name: 'Calendar Off' }).waitFor();

    const cellOf = (name: string, column: number) =>
      grid
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name }) })
        .getByRole('button')
        .nth(column);
    await cellOf('Group 001', 0).focus();
    for (const key of ['ArrowDown', 'Space', 'ArrowRight', 'Space', 'Space', 'Control+End', 'Enter'])
      await page.keyboard.press(key);
    // The last row is drawn now, and the first one is not.
    expect(await cellOf('Group 200', 7).getAttribute('aria-label')).toBe('Use, not saved');
    expect(await grid.getByRole('rowheader', { name: 'Group 001' }).count()).toBe(0);
    expect(await grid.getByRole('row').last().getAttribute('aria-rowindex')).toBe('201');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Use, not saved');
    expect(await grantsOf(admin, 'Group 002')).toEqual({});
    await page.getByText('3 changes are not saved').click();
    await page.getByText('Group 002, Cloud status: No access → Manage').waitFor();

    // Leaving asks first.
    await page.getByRole('link', { name: 'Categories' }).click();
    await dialog(page).waitFor();
    await page.keyboard.press('Escape');
    await press(page, 'Save 3 changes');
    await toast(page, '3 changes are saved.');
    expect(await grantsOf(admin, 'Group 002')).toEqual({ virtualization: 'USE', 'cloud-status': 'MANAGE' });
    expect(await grantsOf(admin, 'Group 200')).toEqual({ calendar: 'USE' });
    await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click();
    await toast(page, 'Undone.');
    expect(await grantsOf(admin, 'Group 002')).toEqual({});

    await page.getByRole('searchbox', { name: 'Search names' }).fill('group 15');
    await page.getByText('12 of 200 rows').waitFor();
    await expectAccessible(page);
    await page.getByRole('searchbox', { name: 'Search modules' }).fill('calendar');
    await grid.getByRole('columnheader').nth(2).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?q=group+15&module=calendar');
  });

  it('asks before it overwrites what another administrator decided, and sends the rest', async () => {
    const admin = await addAdmin();
    const { id } = await addGroup(admin, 'Sales');
    await addAccount({ tenantId: admin.tenantId, displayName: 'Anna Schmidt' });
    const page = await open(admin, 'modules', { language: 'de', theme: 'dark', width: 320, height: 640 });
    await press(page, 'Konto hinzufügen');
    await dialog(page).getByRole('searchbox').fill('anna');
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('button', { name: 'Anna Schmidt abwählen' }).waitFor();
    await confirm(page, '1 Konto hinzufügen');
    await dialog(page).waitFor({ state: 'detached' });
    const grid = page.getByRole('grid', { name: 'Berechtigungen' });
    await grid
      .getByRole('row', { name: /Anna Schmidt/ })
      .getByRole('button')
      .first()
      .click();
    await page.getByRole('combobox', { name: 'Anzeige' }).selectOption('Gruppen und Konten');
    const cell = grid.getByRole('row', { name: /Sales/ }).getByRole('button').first();
    await cell.click();
    await expectAccessible(page);
    await portalOf(admin).put('/module-grants', {
      body: { subjectType: 'group', subjectId: id, moduleKey: 'virtualization', level: 'MANAGE' },
    });
    await press(page, '2 Änderungen speichern');
    await dialog(page).getByText('Sales, Virtualisierung').waitFor();
    await dialog(page).getByRole('button').nth(2).click();
    await page.getByRole('region', { name: 'Meldungen' }).getByText('1 Änderung ist gespeichert.').waitFor();
    expect(await cell.getAttribute('aria-label')).toBe('Verwalten');
    expect(await grantsOf(admin, 'Anna Schmidt')).toEqual({ virtualization: 'USE' });
  });

  it('keeps the changes that a refusal hits', async () => {
    const admin = await addAdmin();
    await addGroup(admin, 'Sales');
    allow('409 PUT /module-grants');
    const page = await open(admin, 'modules');
    const row = page.getByRole('row', { name: /Sales/ });
    await row.getByRole('button').nth(0).click();
    await row.getByRole('button').nth(1).click();
    await page.route('**/module-grants', (route) =>
      route.request().postData()?.includes('cloud-status')
        ? route.fulfill({ status: 409, json: { statusCode: 409, code: 'CONFLICT', message: 'Somebody else did it.' } })
        : route.continue(),
    );
    await press(page, 'Save 2 changes');
    await page.getByText('1 change was not saved.').waitFor();
    await page.getByText('Sales, Cloud status: No access → Use').waitFor();
    expect(await grantsOf(admin, 'Sales')).toEqual({ virtualization: 'USE' });
    await page.unroute('**/module-grants');
    await press(page, 'Save 1 change');
    await page.getByRole('form', { name: 'Changes' }).waitFor({ state: 'detached' });
    expect(await grantsOf(admin, 'Sales')).toEqual({ virtualization: 'USE', 'cloud-status': 'USE' });
  });
});

describe.skipIf(!hasBrowser)('modules', () => {
  it('are switched off after a word on what that does, and on again', async () => {
    const admin = await addAdmin();
    const page = await open(admin, 'modules?tab=switches');
    const isOn = async () => (await portalOf(admin).get('/modules')).find(({ key }) => key === 'calendar')?.enabled;
    const control = page.getByRole('switch', { name: 'Calendar: On' });
    await control.press('Space');
    await dialog(page).getByText('Data and settings are kept.').waitFor();
    await confirm(page, 'Switch off');
    await toast(page, 'Calendar is off.');
    expect(await isOn()).toBe(false);
    await expectAccessible(page);
    await page.getByRole('switch', { name: 'Calendar: Off' }).press('Space');
    await toast(page, 'Calendar is on.');
    await control.waitFor();
    expect(await isOn()).toBe(true);
  });

  it('stand in categories that are created, ordered, renamed and deleted', async () => {
    const admin = await addAdmin();
    const portal = portalOf(admin);
    const keys = async () => (await portal.get('/module-categories')).map(({ key }) => key);
    allow('409 POST /module-categories');
    const page = await open(admin, 'modules?tab=categories');
    await press(page, 'New category');
    await dialog(page).getByRole('textbox').fill('sales');
    await page.keyboard.press('Enter');
    await dialog(page).locator('[aria-invalid="true"]').waitFor();
    await dialog(page).getByRole('textbox').fill('Field work');
    await page.keyboard.press('Enter');
    await toast(page, 'The category “Field work” is created.');
    await press(page, 'Move “Field work” up');
    await expect.poll(keys).toEqual(['infrastructure', 'accounting', 'sales', 'field-work', 'tools', 'custom-modules']);
    // The button keeps the focus, so that it can be pressed again.
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('Move “Field work” up');
    await expectAccessible(page);

    const grip = (name: string) =>
      page
        .getByRole('listitem')
        .filter({ has: page.getByRole('heading', { name }) })
        .getByTitle('Drag to move');
    const [from, to] = [await grip('Field work').boundingBox(), await grip('Infrastructure').boundingBox()];
    if (!from || !to) throw new Error('no handle');
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 8, to.y - 8, { steps: 4 });
    await page.mouse.up();
    await expect.poll(keys).toEqual(['field-work', 'infrastructure', 'accounting', 'sales', 'tools', 'custom-modules']);

    await press(page, 'Calendar');
    await page.getByRole('menuitem', { name: 'To “Field work”' }).click();
    await toast(page, 'Calendar is now under “Field work”.');
    // Another administrator orders meanwhile.
    await portal.put('/module-categories/order', {
      body: { keys: ['tools', 'field-work', 'infrastructure', 'accounting', 'sales'] },
    });
    await press(page, 'Move “Sales” up');
    await dialog(page).getByText('Tools, Field work, Infrastructure').waitFor();
    await dialog(page).getByRole('button').nth(2).click();
    await page
      .getByRole('list', { name: 'Categories' })
      .getByRole('listitem')
      .first()
      .getByRole('heading', { name: 'Tools' })
      .waitFor();

    await press(page, 'Rename “Tools”');
    await dialog(page).getByRole('textbox').fill('Helpers');
    await page.keyboard.press('Enter');
    await toast(page, 'The category is now called “Helpers”.');
    await press(page, 'Delete “Field work”');
    await dialog(page).getByText('These modules move: Calendar.').waitFor();
    await dialog(page).getByRole('combobox').selectOption('Sales');
    await confirm(page, 'Delete');
    await toast(page, 'The category “Field work” was deleted.');
    expect((await portal.get('/module-categories')).find(({ key }) => key === 'sales')?.moduleKeys).toEqual([
      'tender-radar',
      'calendar',
    ]);
  });

  it('of everyone’s own are added, refused without https, changed beside another administrator, and deleted', async () => {
    const admin = await addAdmin();
    const portal = portalOf(admin);
    allow('400 POST /custom-modules');
    const page = await open(admin, 'modules?tab=shared');
    await press(page, 'Add a shared module');
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Wiki');
    await dialog(page).getByRole('textbox', { name: 'Address' }).fill('http://wiki.example.org');
    await confirm(page, 'Save');
    await dialog(page).locator('[name="url"][aria-invalid="true"]').waitFor();
    await dialog(page).getByRole('textbox', { name: 'Address' }).fill('https://wiki.example.org/');
    await confirm(page, 'Save');
    await page.getByRole('row', { name: /Wiki/ }).waitFor();
    const [made] = await portal.get('/custom-modules');
    expect(made).toMatchObject({ name: 'Wiki', ownerUserId: null });

    await press(page, 'Edit “Wiki”');
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Handbook');
    const params = { path: { id: made?.id ?? '' } };
    await portal.patch('/custom-modules/{id}', { params, body: { name: 'Knowledge', category: 'tools' } });
    await confirm(page, 'Save');
    await dialog(page).getByText('Knowledge').waitFor();
    await dialog(page).getByRole('button').nth(1).click();
    await page.getByRole('row', { name: /Handbook/ }).waitFor();
    // What only the other one changed stays.
    expect((await portal.get('/custom-modules'))[0]).toMatchObject({ name: 'Handbook', category: 'tools' });
    await press(page, 'Delete “Handbook”');
    await confirm(page, 'Delete');
    await page.getByText('No shared modules yet').waitFor();
  });
});
