import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { group, person, startSlapd, type TestSlapd } from '@portal/testing/servers/slapd';
import { serviceBinary } from '@portal/testing/services';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

// The worker that comes with the mails synchronizes.
const { openPage, allow, addAccount, portalOf, sql } = await servePages({ sendsMail: true });

const addAdmin = () => addAccount({ role: 'ADMIN' });
type Admin = Awaited<ReturnType<typeof addAdmin>>;

const open = async (account: Admin, query = '', look = {}) =>
  drawn(await openPage(`/app/admin/directory${query}`, { account, ...look }));
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name }).click();

describe.skipIf(!hasBrowser || !serviceBinary('slapd'))('the directory', () => {
  const people = Array.from({ length: 12 }, (_, n) => person(`person${n}`));
  const service = person('reader', { password: 'bind secret' });
  let slapd: TestSlapd;
  let settings: { serverUrl: string; baseDn: string; userFilter: string };
  beforeAll(async () => {
    slapd = await startSlapd({
      entries: [...people, service, group('Works', [people[0]?.dn ?? '', people[1]?.dn ?? ''])],
    });
    settings = { serverUrl: slapd.url, baseDn: slapd.baseDn, userFilter: '(uid=person*)' };
  });
  afterAll(() => slapd.stop());

  it('is set up: tested, which tells why it fails, saved, and narrowed to a group of the live directory', async () => {
    const account = await addAdmin();
    allow('400 PUT /ldap/config');
    const page = await open(account);
    await field(page, 'Server').fill('http://ldap.example.org');
    await field(page, 'Base DN').fill('nowhere');
    // By keyboard
    await field(page, 'Base DN').press('Enter');
    await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(2);

    await field(page, 'Server').fill(slapd.url);
    await field(page, 'Base DN').fill(slapd.baseDn);
    await field(page, 'Bind DN').fill(service.dn);
    await page.getByLabel('Bind password', { exact: true }).fill('wrong');
    await click(page, 'Test connection');
    await page.getByText('Sign-in refused').waitFor();
    await page.getByText('did not accept the bind DN or its password').waitFor();
    await page.getByLabel('Bind password', { exact: true }).fill('bind secret');
    await field(page, 'Filter for people').fill('(uid=person*)');
    await click(page, 'Test connection');
    await page.getByText('The connection works: OpenLDAP, 12 people.').waitFor();
    await page.getByRole('table', { name: 'Sample' }).getByText('person0@example.org').waitFor();
    await click(page, 'Save');
    await page.getByText('The directory settings are saved.').waitFor();
    await page.getByText('Stored', { exact: true }).waitFor();

    await click(page, 'Choose in the directory…');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: 'people' }).waitFor();
    await dialog.getByRole('searchbox', { name: 'Search' }).fill('Wor');
    await dialog.getByRole('checkbox', { name: 'people' }).waitFor({ state: 'detached' });
    await dialog.getByRole('checkbox', { name: 'Works' }).check();
    await expectAccessible(page);
    await click(page, 'Done');
    await field(page, 'Add an entry (DN) by hand').fill('ou=More,dc=example,dc=org');
    await field(page, 'Add an entry (DN) by hand').press('Enter');
    await click(page, 'Remove “More”');
    await click(page, 'Save');
    await expect
      .poll(async () => (await portalOf(account).get('/ldap/config')).includeDns)
      .toEqual(['cn=Works,ou=groups,dc=example,dc=org']);
    await expectAccessible(page);
  });

  it('is previewed and synchronized; a run that takes too much stops until it is forced', async () => {
    const account = await addAdmin();
    const portal = portalOf(account);
    await portal.put('/ldap/config', { body: settings });
    const page = await open(account);
    await tab(page, 'Synchronization');
    await click(page, 'Make a preview');
    const changes = page.getByRole('table', { name: 'Changes' });
    await changes.getByRole('row').filter({ hasText: 'person11' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('searchbox', { name: 'Search' }).fill('person11');
    await changes.getByRole('row').filter({ hasText: 'person2' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /^Deactivated/ }).click();
    await page.getByText('Nothing matches').or(page.getByText('No such change')).waitFor();
    expect(new URL(page.url()).searchParams.get('change')).toBe('deactivate');

    await page.getByRole('button', { name: 'Synchronize now' }).press('Enter');
    await page.getByRole('heading', { name: 'Last synchronization' }).waitFor({ timeout: 30_000 });
    await page.getByText('Finished').waitFor();
    const active = async () =>
      (await portal.get('/users', { params: { query: { source: 'directory', isActive: true } } })).length;
    expect(await active()).toBe(12);

    // What differs is shown as it is and as it will be.
    await sql(`update users set last_name = 'Bisher' where tenant_id = $1 and username = 'person11'`, [
      account.tenantId,
    ]);
    await page.goto('/app/admin/directory?tab=sync');
    await click(page, 'Make a preview');
    await changes
      .getByRole('row')
      .filter({ hasText: 'person11' })
      .getByText(/Last name: .*Bisher.* → /)
      .waitFor();

    await portal.put('/ldap/config', { body: { ...settings, includeDns: ['cn=Works,ou=groups,dc=example,dc=org'] } });
    await click(page, 'Synchronize now');
    await page.getByText('10 of 12 accounts that came from the directory would be switched off.').waitFor({
      timeout: 30_000,
    });
    expect(await active()).toBe(12);
    await click(page, 'Force synchronization…');
    const question = page.getByRole('dialog');
    await question.getByText('10 accounts are deactivated.').waitFor();
    await question.getByText('person2').waitFor();
    await expectAccessible(page);
    await click(page, 'Force');
    await expect.poll(active).toBe(2);
    await page.getByText('Finished').waitFor();

    await tab(page, 'History');
    const runs = page.getByRole('table', { name: 'History' });
    await expect.poll(() => runs.getByRole('row').count()).toBe(4);
    await expectAccessible(page);
    await runs.getByRole('row').filter({ hasText: 'Stopped' }).getByRole('link').click();
    await question.getByText('10 of 12 accounts').waitFor();
    expect(new URL(page.url()).searchParams.get('run')).not.toBeNull();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    expect(new URL(page.url()).searchParams.get('run')).toBeNull();
  });

  it('without settings or out of reach says what to do next', async () => {
    const account = await addAdmin();
    allow('502 POST /ldap/sync/preview');
    const page = await open(account, '?tab=sync');
    await page.getByText('No directory set up yet').waitFor();
    await portalOf(account).put('/ldap/config', { body: { ...settings, serverUrl: 'ldap://127.0.0.1:1' } });
    await page.reload();
    await click(page, 'Make a preview');
    await page.getByText('Directory server not reachable').waitFor();
    await expectAccessible(page);
    await tab(page, 'History');
    await page.getByText('No synchronization yet').waitFor();
  });

  it('fills fields from further attributes; a wrong one, a secret one and one that is there are refused', async () => {
    const account = await addAdmin();
    allow('400 POST /ldap/mappings', '409 POST /ldap/mappings');
    const page = await open(account, '?tab=mappings', { width: 320, height: 640 });
    await expectAccessible(page);
    const attribute = field(page, 'Attribute');
    await page.getByRole('combobox', { name: 'Field' }).selectOption('First name');
    const wrong = { 'given name': 'must be the name of an attribute', userPassword: 'holds a secret' };
    for (const [name, reason] of Object.entries(wrong)) {
      await attribute.fill(name);
      await attribute.press('Enter');
      await page.getByText(reason, { exact: false }).waitFor();
      expect(await attribute.inputValue()).toBe(name);
    }
    await attribute.fill('gn');
    await attribute.press('Enter');
    const remove = page.getByRole('button', { name: 'Delete mapping gn → First name' });
    await remove.waitFor();
    await attribute.fill('GN');
    await attribute.press('Enter');
    await page.getByText('This field already has this attribute.').first().waitFor();
    await attribute.fill('');
    await remove.click();
    await page.getByRole('dialog').getByText('gn then no longer fills').waitFor();
    await click(page, 'Delete');
    await remove.waitFor({ state: 'detached' });
  });

  it('changed by another administrator is not overwritten unseen, and is switched off only after a question', async () => {
    const account = await addAdmin();
    const other = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    await other.put('/ldap/config', { body: settings });
    const page = await open(account);
    await page.getByRole('switch', { name: 'Directory switched on' }).uncheck();
    await other.put('/ldap/config', { body: { ...settings, syncIntervalMin: 15 } });
    await click(page, 'Save');
    await page.getByText('Directory accounts can then no longer sign in').waitFor();
    await click(page, 'Switch off');
    await page.getByRole('dialog').getByText('Synchronize every … minutes').waitFor();
    await expectAccessible(page);
    await click(page, 'Take the stored ones');
    await expect
      .poll(() => page.getByRole('spinbutton', { name: 'Synchronize every … minutes' }).inputValue())
      .toBe('15');
    await click(page, 'Save');
    await click(page, 'Switch off');
    await page.getByText('The directory settings are saved.').waitFor();
    expect(await other.get('/ldap/config')).toMatchObject({ isActive: false, syncIntervalMin: 15 });

    await click(page, 'Remove directory');
    await page.getByRole('dialog').getByText(slapd.url).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove directory' }).click();
    await page.getByText('The directory is removed.').waitFor();
    expect((await other.get('/ldap/config')).serverUrl).toBeNull();
  });
});
