import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, make, sql } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;

let named = 0;
const newName = (what: string) => `${what} ${Date.now().toString(36)}${(named += 1)}`;
const addOperator = () => addAccount({ role: 'SUPER_ADMIN' });
const open = async (account: Account, path: string, look = {}) => drawn(await openPage(path, { account, ...look }));
const dialog = (page: Page) => page.getByRole('dialog');
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const openPalette = async (page: Page) => {
  await page.keyboard.press('Control+k');
  await dialog(page).getByRole('combobox').waitFor();
};
const tenantNamed = async (account: Account, name: string) =>
  (await portalOf(account).get('/tenants')).find((tenant) => tenant.name === name);
const choose = async (page: Page, tenant: string, action: string) => {
  await row(page, tenant)
    .getByRole('button', { name: `Actions: ${tenant}` })
    .click();
  await page.getByRole('menuitem', { name: action }).click();
};

describe.skipIf(!hasBrowser)('a tenant', () => {
  it('is made with its administrator by keyboard, after refusals that keep what was typed', async () => {
    const operator = await addOperator();
    const page = await open(operator, '/app/admin/tenants');
    const name = newName('Stadtwerke');
    const taken = await addAccount();
    await page.getByRole('button', { name: 'New tenant' }).press('Enter');
    await page.keyboard.type('   ');
    allow('400 POST /tenants', '409 POST /users');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('Please fill this in.').waitFor();
    const nameField = dialog(page).getByRole('textbox', { name: 'Name', exact: true });
    await nameField.fill(name);
    await dialog(page).getByRole('radio', { name: 'Send a welcome mail' }).check();
    await dialog(page).getByRole('textbox', { name: 'Username' }).fill(taken.username);
    await page.keyboard.press('Enter');
    // The mail needs an address, and nothing is made before that is clear.
    await dialog(page).locator('input[name="email"][aria-invalid="true"]').waitFor();
    expect(await tenantNamed(operator, name)).toBeUndefined();
    await dialog(page).getByRole('radio', { name: 'Show a temporary password' }).check();
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await dialog(page).getByText(`The tenant “${name}” is created, only the account is missing.`).waitFor();
    await expectAccessible(page);
    await dialog(page)
      .getByRole('textbox', { name: 'Username' })
      .fill(`chef-${name.toLowerCase().replaceAll(' ', '-')}`);
    await dialog(page).getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog', { name: 'Tenant created' }).waitFor();
    const password = await dialog(page).locator('code').textContent();
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    await row(page, name).waitFor();
    expect(await tenantNamed(operator, name)).toMatchObject({ isActive: true, userCount: 1 });
    const signIn = portalOf(null).post('/auth/login', {
      body: { username: `chef-${name.toLowerCase().replaceAll(' ', '-')}`, password: password ?? '' },
    });
    expect((await signIn).user).toMatchObject({ role: 'ADMIN', tenantName: name, mustChangePassword: true });
  });

  it('is found by the address, renamed although somebody else did, deactivated, activated and deleted', async () => {
    const operator = await addOperator();
    const portal = portalOf(operator);
    const name = newName('Bäckerei');
    const { id } = await portal.post('/tenants', { body: { name } });
    const page = await open(operator, `/app/admin/tenants?search=${encodeURIComponent(name)}`);
    expect(await page.getByRole('row').count()).toBe(2);
    await expectAccessible(page);

    await choose(page, name, 'Rename');
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill(`${name} Süd`);
    await portal.patch('/tenants/{id}', { params: { path: { id } }, body: { name: `${name} Nord` } });
    await page.keyboard.press('Enter');
    const meanwhile = page.getByRole('dialog', { name: 'Changed meanwhile' });
    await meanwhile.getByText(`${name} Nord`).waitFor();
    await expectAccessible(page);
    await meanwhile.getByRole('button', { name: 'Save my entries' }).click();
    await row(page, `${name} Süd`).waitFor();
    expect(await tenantNamed(operator, `${name} Süd`)).toMatchObject({ id });

    await choose(page, `${name} Süd`, 'Deactivate');
    await dialog(page).getByRole('button', { name: 'Deactivate' }).click();
    await row(page, `${name} Süd`).getByText('Inactive').waitFor();
    await choose(page, `${name} Süd`, 'Activate');
    await row(page, `${name} Süd`).getByText('Active', { exact: true }).waitFor();

    const member = await addAccount({ tenantId: id });
    await choose(page, `${name} Süd`, 'Delete');
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await dialog(page).getByText('This is not the name of the tenant.').waitFor();
    const typed = dialog(page).getByRole('textbox', { name: `Enter “${name} Süd” to confirm` });
    await typed.fill(`${name} Süd`);
    allow('409 DELETE /tenants/:id');
    await page.keyboard.press('Enter');
    await dialog(page).getByText('This tenant still has active accounts.').waitFor();
    await dialog(page).getByRole('link', { name: 'See the accounts' }).waitFor();
    await portal.patch('/users/{id}', { params: { path: { id: member.id } }, body: { isActive: false } });
    await typed.press('Enter');
    await page.getByText('No tenant matches this filter').waitFor();
    expect(await tenantNamed(operator, `${name} Süd`)).toBeUndefined();
  });
});

describe.skipIf(!hasBrowser)('the audit log', () => {
  it('is narrowed in the address and paged, and each entry has a link of its own', async () => {
    const admin = await addAccount({ role: 'ADMIN' });
    const portal = portalOf(admin);
    const user = await addAccount({ tenantId: admin.tenantId, username: newName('max').replaceAll(' ', '.') });
    const at = { params: { path: { id: user.id } } };
    await portal.patch('/users/{id}', { ...at, body: { role: 'ADMIN' } });
    for (let n = 0; n < 55; n += 1) await portal.post('/groups', { body: { internalName: `Group ${n}` } });

    const page = await open(admin, '/app/admin/audit-log');
    await row(page, 'Created the group Group 54.').waitFor();
    expect(await page.getByRole('row').count()).toBe(51);
    await page.getByRole('button', { name: 'Load more' }).click();
    await row(page, 'Created the group Group 0.').waitFor();

    const action = page.getByRole('combobox', { name: 'Action' });
    await action.fill('Account cha');
    await page.getByRole('option', { name: 'Account changed', exact: true }).waitFor();
    await action.press('Enter');
    await page.waitForURL('**?action=users.update');
    await row(page, 'Changed role of the account').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await expectAccessible(page);

    await row(page, 'Changed role').getByRole('link', { name: 'Account changed' }).press('Enter');
    await dialog(page).getByText('(role USER to ADMIN').waitFor();
    await expectAccessible(page);
    const entry = new URL(page.url()).searchParams.get('entry');

    // Somebody opens the link, in German and on a phone.
    const linked = await open(admin, `/app/admin/audit-log?entry=${entry}`, { language: 'de', width: 320 });
    await dialog(linked).getByRole('heading', { name: 'Konto geändert' }).waitFor();
    await expectAccessible(linked);
    await dialog(linked).getByRole('link', { name: 'Alles von diesem Konto' }).click();
    await linked.waitForURL(`**?actor=${admin.id}`);

    const gone = await open(admin, '/app/admin/audit-log?entry=nonsense&from=2026-02-30&action=no.such');
    await dialog(gone).getByText('There is no such entry').waitFor();
  });

  it('of a day without entries says so, and an operator sees one tenant or all', async () => {
    const operator = await addOperator();
    const other = await addAccount({ role: 'ADMIN' });
    await portalOf(other).post('/groups', { body: { internalName: 'Elsewhere' } });
    const page = await open(operator, '/app/admin/audit-log');
    await row(page, 'Created the group Elsewhere.').waitFor();
    await page.getByRole('combobox', { name: 'Tenant' }).selectOption(operator.tenantId);
    await row(page, 'Created the group Elsewhere.').waitFor({ state: 'hidden' });
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('No entries match these filters').waitFor();
    expect(new URL(page.url()).search).toBe(`?to=2020-01-01&tenant=${operator.tenantId}`);
    await page.getByRole('link', { name: 'Remove filters' }).first().click();
    await row(page, 'Created the group Elsewhere.').waitFor();
  });
});

describe.skipIf(!hasBrowser)('background jobs', () => {
  it('are shown with their health, those with problems first if asked, and a run by its id', async () => {
    const operator = await addOperator();
    await sql(
      `insert into job_outcomes (name, last_run_at, last_state, last_duration_ms) values ('tenders.match', now(), 'failed', 1500)`,
    );
    const runId = crypto.randomUUID();
    await sql(
      `insert into runs (id, tenant_id, kind, state, payload, started_by, done, total, due_at) values ($1, $2, 'directory.sync', 'running', '{}', $3, 3, 10, now() + interval '1 hour')`,
      [runId, operator.tenantId, operator.id],
    );
    const page = await open(operator, '/app/admin/jobs');
    await page.getByRole('region', { name: 'Health' }).getByText('Reachable').first().waitFor();
    expect(await page.getByRole('link', { name: /^All jobs on the board/ }).getAttribute('href')).toBe('/admin/queues');
    await expectAccessible(page);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('problems');
    await page.waitForURL('**?show=problems');
    await row(page, 'Match tenders with searches').getByText('Failed last time').waitFor();
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill('nonsense');
    await page.getByText('No job matches this search').waitFor();

    await page.getByRole('textbox', { name: 'Id of the run' }).fill(runId);
    await page.keyboard.press('Enter');
    const lookup = page.getByRole('region', { name: 'Look up a run' });
    await lookup.getByText('3 of 10 30 %').waitFor();
    await sql(`update runs set state = 'failed', finished_at = now(), error = 'The moon was full.' where id = $1`, [
      runId,
    ]);
    await lookup.getByText('The moon was full.').waitFor();
    allow('404 GET /runs/');
    await page.getByRole('textbox', { name: 'Id of the run' }).fill('../rubbish');
    await page.keyboard.press('Enter');
    await lookup.getByText('NOT_FOUND').waitFor();
  });
});

describe.skipIf(!hasBrowser)('unsaved changes', () => {
  it('ask before a link, a command, the back button and closing take the page away', async () => {
    const admin = await addAccount({ role: 'ADMIN' });
    const user = await make.user({ tenantId: admin.tenantId });
    const page = await open(admin, '/app/admin/users');
    await page.getByRole('link', { name: user.username }).click();
    const field = page.getByRole('textbox', { name: 'Display name' });
    await field.fill('Somebody else');
    const question = page.getByRole('dialog', { name: 'Discard changes?' });
    const stay = question.getByRole('button', { name: 'Keep editing' });
    const keeps = async () => {
      await question.waitFor({ state: 'hidden' });
      expect(await field.inputValue()).toBe('Somebody else');
      expect(new URL(page.url()).pathname).toBe(`/app/admin/users/${user.id}`);
    };

    await page.getByRole('navigation').getByRole('link', { name: 'Reminders' }).click();
    await question.waitFor();
    await expectAccessible(page);
    // The keyboard stands on the harmless answer.
    await page.keyboard.press('Enter');
    await keeps();

    await openPalette(page);
    await page.keyboard.type('remind');
    await page.getByRole('option', { name: 'Reminders', exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await question.waitFor();
    await page.keyboard.press('Escape');
    await keeps();

    await page.goBack();
    await stay.click();
    await keeps();

    let asked = '';
    page.once('dialog', (box) => {
      asked = box.type();
      void box.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked).toBe('beforeunload');
    await keeps();

    await page.goBack();
    await question.getByRole('button', { name: 'Discard' }).click();
    await page.waitForURL('**/app/admin/users');
    // Nothing is unsaved any more.
    await page.getByRole('navigation').getByRole('link', { name: 'Reminders' }).click();
    await page.waitForURL('**/app/reminders');
    expect(await question.count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('the addresses of administration', () => {
  it('tell who may not open them why not', async () => {
    const refused = async (account: Account, path: string, reason: string) => {
      const page = await open(account, path);
      await page.getByText(reason).waitFor();
      expect(await page.locator(`a[href="${path}"]`).count()).toBe(0);
    };
    await refused(await addAccount(), '/app/admin/audit-log', 'Only administrators can open this page.');
    const admin = await addAccount({ role: 'ADMIN' });
    await refused(admin, '/app/admin/tenants', 'Only the operator of the portal can open this page.');
    await refused(admin, '/app/admin/jobs', 'Only the operator of the portal can open this page.');
  });

  it('are in the navigation and the palette of those who may open them', async () => {
    const page = await open(await addOperator(), '/app/reminders');
    await openPalette(page);
    await page.keyboard.type('tenants');
    await page.getByRole('group', { name: 'Administration' }).getByRole('option', { name: 'Tenants' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor();
    expect(await page.locator('a[href="/app/admin/tenants"]').first().getAttribute('aria-current')).toBe('page');
  });
});
