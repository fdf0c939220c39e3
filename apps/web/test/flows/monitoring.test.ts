import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deadForm, serverForm } from '@portal/testing/monitoring';
import { type BackupServer, backupHost, startBackupServer } from '@portal/testing/servers/products/backup-server';
import {
  startVirtualizationServer,
  type VirtualizationServer,
} from '@portal/testing/servers/products/virtualization-server';
import { caCertificatePem } from '@portal/testing/servers/tls';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

// The worker that comes with the mails checks the servers.
const { openPage, allow, addAccount, accountFor, portalOf, sql } = await servePages({ sendsMail: true });

const addAdmin = () => addAccount({ role: 'ADMIN' });
const addUser = () => accountFor({ module: 'virtualization', level: 'USE' });
type Account = Awaited<ReturnType<typeof addAdmin>>;

const open = async (account: Account, rest = '', look = {}) =>
  drawn(await openPage(`/app/virtualization${rest}`, { account, ...look }));
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const secret = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name, exact: true }).click();
const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

/** What the service takes: the form of the stand-in without what it leaves open. */
const bodyOf = ({ tokenSecret = null, password = null, ...form }: ReturnType<typeof serverForm>) => ({
  ...form,
  tokenSecret,
  password,
});

describe.skipIf(!hasBrowser)('the monitored servers', () => {
  let cluster: VirtualizationServer;
  let backup: BackupServer;
  beforeAll(async () => {
    const host = backupHost();
    const [full] = host.stores;
    // One needs attention at once, because critical findings count at once.
    if (full) Object.assign(full, { full: 0.93, fullInDays: 12 });
    [cluster, backup] = await Promise.all([startVirtualizationServer(), startBackupServer(host)]);
  });
  afterAll(() => Promise.all([cluster.switchOff(), backup.switchOff()]));

  it('get a new one: tested, which says why it fails and what to do, saved, checked and kept with its secret', async () => {
    const account = await addAdmin();
    const { token } = cluster.accounts;
    allow('400 POST /virtualization/servers', '400 PUT /virtualization/servers/:id');
    const page = await open(account);
    await page.getByText('No servers yet').waitFor();
    // By keyboard
    await button(page, 'Add server').first().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add server' });
    await field(page, 'Name').fill('Cluster Nord');
    await field(page, 'Address').fill('http://wrong');
    await field(page, 'Address').press('Enter');
    await page.locator('[name="address"][aria-invalid="true"]').waitFor();
    expect(await field(page, 'Name').inputValue()).toBe('Cluster Nord');
    // What is typed is not lost by a slip.
    await page.keyboard.press('Escape');
    await button(page, 'Keep editing').click();

    await field(page, 'Address').fill(`${cluster.address}/#v1:0`);
    await field(page, 'Token ID').fill(token.id);
    await secret(page, 'Token secret').fill('wrong');
    await button(page, 'Test connection').click();
    await dialog.getByText('The certificate of the server is not valid').waitFor();
    await dialog.getByText('/etc/pve/pve-root-ca.pem').waitFor();
    await field(page, 'CA certificate (PEM)').fill(caCertificatePem);
    await button(page, 'Test connection').click();
    await dialog.getByText('The sign-in was refused').waitFor();
    await secret(page, 'Token secret').fill(token.secret);
    await dialog.getByText('have changed since this test').waitFor();
    await button(page, 'Test connection').click();
    await dialog.getByText('The connection works').waitFor();
    await expectAccessible(page);
    await page.getByRole('switch', { name: 'Verify certificate' }).uncheck();
    await dialog.getByText('anybody in the network can pose').waitFor();
    await page.getByRole('switch', { name: 'Verify certificate' }).check();
    await dialog.getByRole('combobox', { name: 'Kind' }).selectOption('Mail gateway');
    await dialog.getByText('Mail gateways have no API tokens').waitFor();
    await dialog.getByRole('combobox', { name: 'Kind' }).selectOption('Virtualization');
    // A secret belongs to its method.
    expect(await secret(page, 'Token secret').inputValue()).toBe('');
    await secret(page, 'Token secret').fill(token.secret);
    await button(page, 'Save').click();

    await page.getByRole('heading', { name: 'Cluster Nord', level: 1 }).waitFor();
    await button(page, 'Check now').click();
    await page.getByText('No finding needs attention.').waitFor({ timeout: 30_000 });
    await page.getByText('Nodes online').waitFor();
    await expectAccessible(page);
    await tab(page, 'Settings');
    await page.getByText('Stored', { exact: true }).waitFor();
    await field(page, 'Name').fill('Cluster Süd');
    await button(page, 'Save').click();
    await page.getByRole('heading', { name: 'Cluster Süd', level: 1 }).waitFor();
    expect((await portalOf(account).get('/virtualization/servers'))[0]).toMatchObject({ hasTokenSecret: true });
    // A secret goes to no other address than its own.
    await field(page, 'Address').fill('https://other.example.org');
    await button(page, 'Save').click();
    await page.locator('[name="tokenSecret"][aria-invalid="true"]').waitFor();
    await button(page, 'Discard').click();

    await button(page, 'Delete').click();
    await page.getByRole('dialog').getByText('“Cluster Süd”').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No servers yet').waitFor();
  });

  it('are checked by hand with progress, found by state, kind and name in the address, and told apart without MANAGE', async () => {
    const user = await addUser();
    const admin = portalOf(await addAccount({ role: 'ADMIN', tenantId: user.tenantId }));
    await admin.post('/virtualization/servers', { body: bodyOf(serverForm(cluster, { name: 'Cluster' })) });
    await admin.post('/virtualization/servers', { body: bodyOf(serverForm(backup, { name: 'Backup' })) });
    await admin.post('/virtualization/servers', { body: { ...bodyOf(deadForm()), name: 'Dead' } });
    await admin.post('/virtualization/servers', { body: { ...bodyOf(deadForm()), name: 'Retired', isActive: false } });
    allow('429 POST /virtualization/poll');
    const page = await open(user);
    expect(await button(page, 'Add server').count()).toBe(0);
    await button(page, 'Check now').press('Enter');
    await page.getByText('Done:', { exact: false }).waitFor({ timeout: 40_000 });
    await button(page, 'Check now').click();
    await page.getByText('The last check has only just started', { exact: false }).waitFor();
    await button(page, 'Hide').click();
    await row(page, 'Dead').getByText('Not reachable. No good answer so far.').waitFor();
    await row(page, 'Retired').waitFor();
    expect(await page.getByRole('rowheader').allTextContents()).toEqual(['Backup', 'Dead', 'Cluster', 'Retired']);
    await expectAccessible(page);

    await page.getByRole('button', { name: / critical$/ }).click();
    await row(page, 'Cluster').waitFor({ state: 'detached' });
    expect(param(page, 'state')).toBe('critical');
    await page.getByRole('button', { name: / critical$/ }).click();
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('Virtualization');
    await row(page, 'Dead').waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Search' }).fill('nowhere');
    await page.getByText('No server matches these filters.').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'All servers' }).click();
    await page.getByRole('link', { name: 'Backup', exact: true }).press('Enter');

    await page.getByRole('heading', { name: 'Backup', level: 1 }).waitFor();
    await page.getByText(/full in about 1[12] days/).waitFor();
    expect(await button(page, 'Delete').count()).toBe(0);
    await expectAccessible(page);
    await tab(page, 'Thresholds');
    await row(page, 'Time until a datastore is full').getByText('7 days or less').waitFor();
    expect(await page.getByRole('link', { name: 'Settings', exact: true }).count()).toBe(0);
  });

  it('have a history of states and figures for a day, a week and a month', async () => {
    const account = await addAdmin();
    const server = await portalOf(account).post('/virtualization/servers', { body: bodyOf(serverForm(cluster)) });
    await sql(
      `insert into server_history (tenant_id, server_id, at, state, failure, cpu, memory, fullest, guests)
       select $1, $2, now() - n * interval '1 hour', (case when n < 4 then 'critical' else 'ok' end)::server_state,
         (case when n < 4 then 'netz' end)::server_failure, 20, 40, 55, 5 from generate_series(1, 200) n`,
      [account.tenantId, server.id],
    );
    const page = await open(account, `/${server.id}?tab=history`);
    const strip = page.getByRole('img', { name: /^State: Critical/ });
    await strip.waitFor();
    await page.getByText('Sections as a table').click();
    await page.getByRole('row').filter({ hasText: 'Critical: Not reachable.' }).first().waitFor();
    await page.getByRole('figure', { name: 'Load' }).waitFor();
    await page.getByRole('link', { name: '7 days' }).press('Enter');
    await expect.poll(() => param(page, 'range')).toBe('7d');
    await strip.waitFor();
    await page.getByText('Each point sums up', { exact: false }).waitFor();
    await expectAccessible(page);
  });

  it('changed by another administrator are not overwritten unseen', async () => {
    const account = await addAdmin();
    const other = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    const body = bodyOf(serverForm(cluster, { name: 'Nord', isActive: false }));
    const { id } = await other.post('/virtualization/servers', { body });
    const page = await open(account, `/${id}?tab=settings`, { width: 320, height: 640 });
    await expectAccessible(page);
    await field(page, 'Name').fill('Mine');
    await other.put('/virtualization/servers/{id}', {
      params: { path: { id } },
      body: { ...body, name: 'Theirs', pollIntervalMin: 30 },
    });
    await button(page, 'Save').click();
    await page.getByRole('dialog').getByText('Theirs').waitFor();
    await button(page, 'Take the stored ones').click();
    await page.getByRole('heading', { name: 'Theirs', level: 1 }).waitFor();
    expect(await field(page, 'Name').inputValue()).toBe('Theirs');
  });

  it('with 500 of them draws only what is near the window', async () => {
    const user = await addUser();
    const admin = portalOf(await addAccount({ role: 'ADMIN', tenantId: user.tenantId }));
    await admin.post('/virtualization/servers', { body: { ...bodyOf(deadForm()), name: 'First' } });
    await sql(
      `insert into monitored_servers select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'name', 'Server ' || n))).*
       from monitored_servers s, generate_series(1, 499) n where s.tenant_id = $1`,
      [user.tenantId],
    );
    const page = await open(user);
    await page.getByText('500 servers', { exact: true }).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(120);
  });
});
