import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, make, sql } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;

let count = 0;
/** An administrator of a tenant with these accounts. Usernames are unique in the whole service, so each gets a suffix. */
async function tenantWith(...names: string[]) {
  const admin = await addAccount({ role: 'ADMIN', displayName: 'Ada Admin' });
  count += 1;
  const suffix = `-${count}-${admin.id.slice(-6)}`;
  const users = [];
  for (const name of names) {
    const username = name.toLowerCase() + suffix;
    users.push(
      await make.user({ tenantId: admin.tenantId, username, displayName: name, email: `${username}@example.org` }),
    );
  }
  return { admin, users, suffix };
}

const list = async (account: Account, query = '', look = {}) =>
  drawn(await openPage(`/app/admin/users${query}`, { account, ...look }));
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const dialog = (page: Page) => page.getByRole('dialog');
const button = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name, exact: true });
const menu = async (page: Page, opener: string, item: string) => {
  await page.getByRole('button', { name: opener, exact: true }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};
const usersOf = (account: Account, query = {}) => portalOf(account).get('/users', { params: { query } });
const csv = (text: string | Buffer) => ({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });

describe.skipIf(!hasBrowser)('the list of accounts', () => {
  it('is searched and filtered in the address', async () => {
    const { admin } = await tenantWith('Berta', 'Cem', 'Dora');
    const page = await list(admin);
    await page.getByText('4 accounts', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('searchbox', { name: 'Search' }).fill('cem');
    await page.getByText('1 account', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=cem');
    await page.getByRole('combobox', { name: 'Role' }).selectOption('Administrator');
    await page.getByText('No account matches these filters').waitFor();
    expect(new URL(page.url()).searchParams.get('role')).toBe('ADMIN');
    await page.getByRole('link', { name: 'Reset filters' }).click();
    await row(page, 'Dora').waitFor();
    expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe('');
    await page.goBack();
    await page.getByText('No account matches these filters').waitFor();
    // Rubbish in an address is ignored.
    await page.goto('/app/admin/users?role=ROOT&isActive=perhaps&source=directory');
    await page.getByText('No account matches these filters').waitFor();
  });

  it('draws of a thousand accounts those in view, as cards too, and the last ones when they are reached', async () => {
    const { admin } = await tenantWith();
    await sql(
      `insert into users (id, tenant_id, username, display_name, email, role)
       select gen_random_uuid(), $1, 'mass-' || n, 'Person ' || lpad(n::text, 4, '0'), 'mass-' || n || '@example.org', 'USER' from generate_series(1, 1200) n`,
      [admin.tenantId],
    );
    const page = await list(admin, '?search=mass-', { width: 320, height: 640 });
    await page.getByText('1,200 accounts').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(200);
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await row(page, 'mass-999@example.org').waitFor();
    await page.getByRole('checkbox', { name: 'Select all listed' }).check();
    await page.getByText('1,200 selected').waitFor();
  });
});

describe.skipIf(!hasBrowser)('an account', () => {
  it('is made, and its temporary password is shown once', async () => {
    const { admin, suffix } = await tenantWith();
    allow('400 POST /users', '409 POST /users');
    const page = await list(admin);
    await page.getByRole('button', { name: 'New account' }).click();
    expect(new URL(page.url()).search).toBe('?new=1');
    const field = (name: string) => dialog(page).getByRole('textbox', { name });
    await expectAccessible(page);
    // Rubbish first
    await field('E-mail address').fill('nonsense');
    await page.keyboard.press('Enter');
    await dialog(page).locator('[aria-invalid="true"]').first().waitFor();
    await field('E-mail address').fill('');
    await field('Username').fill(admin.username);
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Already taken.').waitFor();
    await field('Username').fill(`Eva${suffix}`);
    await field('Display name').fill('Eva <b>Ernst</b>');
    await page.keyboard.press('Enter');
    const made = dialog(page).getByRole('heading', { name: /Temporary password for/ });
    await made.waitFor();
    const password = (await dialog(page).locator('code').textContent()) ?? '';
    expect(password).toMatch(/^[\w-]{19}$/);
    // Not copied: closing asks once more.
    await page.keyboard.press('Escape');
    await dialog(page).getByText('cannot be shown again').waitFor();
    await button(page, 'Close anyway').click();
    await made.waitFor({ state: 'detached' });
    await row(page, 'Eva <b>Ernst</b>').waitFor();
    expect(await usersOf(admin, { search: `eva${suffix}` })).toMatchObject([
      { username: `eva${suffix}`, email: null, mustChangePassword: true },
    ]);
  });

  it('is changed on its page, and what another administrator changed is not overwritten', async () => {
    const { admin, users } = await tenantWith('Berta');
    const other = await addAccount({ role: 'ADMIN', tenantId: admin.tenantId });
    const [berta] = users;
    const id = berta?.id ?? '';
    const params = { path: { id } };
    const page = await list(admin);
    await page.getByRole('link', { name: 'Berta' }).click();
    const name = page.getByRole('textbox', { name: 'Display name' });
    await name.fill('Berta Mine');
    await expectAccessible(page);
    await portalOf(other).patch('/users/{id}', { params, body: { displayName: 'Berta Theirs', role: 'ADMIN' } });
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog(page).getByText('Berta Theirs').waitFor();
    await button(page, 'Take the stored ones').click();
    expect(await name.inputValue()).toBe('Berta Theirs');
    await name.fill('Berta Both');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).first().waitFor();
    expect(await portalOf(admin).get('/users/{id}', { params })).toMatchObject({
      displayName: 'Berta Both',
      role: 'ADMIN',
    });
    // Nothing typed is lost by a link.
    await name.fill('Berta Lost');
    await page.getByRole('link', { name: 'All accounts' }).click();
    await button(page, 'Keep editing').click();
    expect(await name.inputValue()).toBe('Berta Lost');
  });

  it('shows its groups, and what it may use by itself and through them', async () => {
    const { admin, users } = await tenantWith('Berta');
    const id = users[0]?.id ?? '';
    const portal = portalOf(admin);
    const group = await portal.post('/groups', { body: { internalName: 'Sales <b>' } });
    await portal.post('/groups', { body: { internalName: 'Others' } });
    await portal.put('/groups/{id}/members', { params: { path: { id: group.id } }, body: { userIds: [id] } });
    const subject = { subjectType: 'group', subjectId: group.id } as const;
    await portal.put('/module-grants', { body: { ...subject, moduleKey: 'calendar', level: 'MANAGE' } });
    await portal.put('/module-grants', {
      body: { subjectType: 'user', subjectId: id, moduleKey: 'calendar', level: 'USE' },
    });
    const page = await drawn(await openPage(`/app/admin/users/${id}`, { account: admin }));
    await page.getByText('Manage (through Sales <b>)').waitFor();
    const groups = page.getByRole('region', { name: 'Groups', exact: true });
    expect(await groups.getByRole('listitem').allTextContents()).toEqual(['Sales <b>']);
    await expectAccessible(page);
    await groups.getByRole('link', { name: 'Sales <b>' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sales <b>' }).waitFor();
  });

  it('of the directory shows what is managed there; one that does not exist says so', async () => {
    const { admin } = await tenantWith();
    const { id } = await make.user({ tenantId: admin.tenantId, displayName: 'Dirk', ldapDn: 'uid=dirk,dc=example' });
    allow('404 GET /users/:id');
    const page = await drawn(await openPage(`/app/admin/users/${id}`, { account: admin }));
    await page.getByText('managed by the directory').waitFor();
    expect(await page.getByRole('textbox', { name: 'Display name' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Reset password' }).count()).toBe(0);
    await page.getByRole('combobox', { name: 'Role' }).selectOption('Administrator');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).first().waitFor();
    await page.goto(`/app/admin/users/${id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))}`);
    await page.getByText('This account does not exist').waitFor();
  });

  it('is deactivated, welcomed, signed out and deleted from its page', async () => {
    const { admin, users } = await tenantWith('Berta');
    const id = users[0]?.id ?? '';
    const page = await drawn(await openPage(`/app/admin/users/${id}`, { account: admin }));
    const act = async (name: string) => {
      await page.getByRole('main').getByRole('button', { name, exact: true }).click();
      await button(page, name).click();
    };
    await act('Deactivate');
    await page.getByRole('main').getByRole('button', { name: 'Activate' }).waitFor();
    await act('End sessions');
    await page.getByText('Ended the sessions of').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Send welcome mail' }).click();
    await dialog(page).getByRole('link', { name: 'Set up a mail server' }).waitFor();
    expect(await button(page, 'Send welcome mail').isDisabled()).toBe(true);
    await button(page, 'Cancel').click();
    await act('Delete');
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
    await expect.poll(() => usersOf(admin)).toHaveLength(1);
  });
});

describe.skipIf(!hasBrowser)('several accounts', () => {
  it('are selected by keyboard, named in one question, and deactivated', async () => {
    const { admin } = await tenantWith('Berta', 'Cem', 'Dora', 'Emil');
    const page = await list(admin, '?role=USER');
    await page.getByRole('checkbox', { name: 'Select Berta' }).focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Space');
    await page.getByText('4 selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select Emil' }).uncheck();
    await menu(page, 'Actions', 'Deactivate');
    for (const name of ['Berta', 'Cem', 'Dora']) await dialog(page).getByText(name).first().waitFor();
    expect(await dialog(page).getByText('Emil').count()).toBe(0);
    await expectAccessible(page);
    await button(page, 'Deactivate').click();
    await page.getByText('Deactivated 3 accounts.').first().waitFor();
    expect(await usersOf(admin, { isActive: false })).toHaveLength(3);
    expect(await page.getByText('selected').count()).toBe(0);
  });

  it('that the service refuses are listed with the reason, and the others are done', async () => {
    const { admin, users } = await tenantWith('Berta', 'Cem');
    allow('403 DELETE /users/:id', '404 DELETE /users/:id');
    const page = await list(admin);
    await page.getByRole('checkbox', { name: 'Select all listed' }).check();
    await menu(page, 'Actions', 'Delete');
    await dialog(page).getByText('Your own account is among them.').waitFor();
    // Meanwhile, somebody else deleted one.
    await portalOf(admin).delete('/users/{id}', { params: { path: { id: users[1]?.id ?? '' } } });
    await button(page, 'Delete').click();
    await dialog(page).getByText('You may not delete your own account.').waitFor();
    await dialog(page).getByText('It did not work for 2 accounts:').waitFor();
    await dialog(page).getByText('Deleted 1 account.').waitFor();
    await expectAccessible(page);
    await button(page, 'Close').last().click();
    expect(await usersOf(admin)).toHaveLength(1);
  });
});

describe.skipIf(!hasBrowser)('a file', () => {
  it('is checked row by row, imported, and its result kept', async () => {
    const { admin, users, suffix } = await tenantWith('Berta');
    allow('409 POST /users');
    const elsewhere = await make.user({});
    const page = await list(admin);
    await page.getByRole('button', { name: 'Import' }).click();
    const choose = dialog(page).getByRole('button', { name: 'Choose file' });
    await chooseFiles(page, choose, csv('a;"b\nc'));
    await dialog(page).getByText('quotation mark in line 1').waitFor();
    await chooseFiles(page, choose, csv(Buffer.from([0x50, 0x4b, 3, 4, 0, 0])));
    await dialog(page).getByText('not a text file').waitFor();
    const lines = [
      'Anmeldename;E-Mail;Nachname;Vorname;Telefon',
      `Zoë${suffix};zoe${suffix}@example.org;"Groß; von";Zoë;1`,
      `${users[0]?.username};;;;`,
      `Zoë${suffix};;;;`,
      `yan${suffix};nonsense;;;`,
      `${elsewhere.username};;Taken;;`,
      `=xenia${suffix};;"Two\nlines";;`,
      `'=xenia${suffix};;Formula;;`,
    ];
    // As a spreadsheet of Windows saves it
    await chooseFiles(page, choose, csv(Buffer.from(lines.join('\r\n'), 'latin1')));
    await dialog(page).getByText('3 new, 4 left out').waitFor();
    for (const fate of ['Exists already', 'Duplicate of line 2', 'E-mail address: not a valid address'])
      await dialog(page).getByText(fate).waitFor();
    await dialog(page).getByText('Last name: contains line breaks').waitFor();
    expect(await dialog(page).getByRole('radio', { name: 'Send welcome mails' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await button(page, 'Create 3 accounts').click();
    await dialog(page).getByText('Created 2 accounts.').waitFor();
    await dialog(page).getByText('This username already exists.').waitFor();
    await expectAccessible(page);
    // The passwords are not saved yet.
    await button(page, 'Close').last().click();
    await page
      .getByRole('dialog', { name: 'Close without downloading?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download the result').click()]);
    const result = await readFile(await download.path(), 'utf8');
    expect(result).toMatch(new RegExp(`zoë${suffix},.*,Created,[\\w-]{19},`));
    expect(result).toContain(`'=xenia${suffix}`);
    expect(result).toMatch(/Not created,,/);
    await button(page, 'Close').last().click();
    await row(page, `zoë${suffix}`).waitFor();
    expect(await usersOf(admin, { search: `zoë${suffix}` })).toMatchObject([
      { firstName: 'Zoë', lastName: 'Groß; von', mustChangePassword: true },
    ]);
  });

  it('holds the filtered list, and nothing in it is a formula', async () => {
    const { admin, suffix } = await tenantWith('Berta');
    await make.user({ tenantId: admin.tenantId, username: `@sum${suffix}`, email: null, displayName: '=1+1' });
    const page = await list(admin, '?role=USER');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^accounts-\d{4}-\d\d-\d\d\.csv$/);
    const rows = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatch(/^\uFEFFUsername,E-mail address,Display name/);
    expect(rows.find((line) => line.includes('@sum'))).toMatch(new RegExp(`^'@sum${suffix},,'=1\\+1,`));
  });
});
