import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { pngIcon } from '@portal/testing/icons';
import { brokenCloud, startCloudServer, statusDocument } from '@portal/testing/servers/cloud-server';
import { expectAccessible } from '../accessible.ts';
import { chooseFiles } from '../choose-file.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

// With a worker, which checks all clouds
const { openPage, allow, addAccount, portalOf, make, sql } = await servePages({ sendsMail: true });
const server = await startCloudServer();
const products: Record<string, Record<string, unknown>> = {
  old: { version: '28.0.1.1', versionstring: '28.0.1' },
  upkeep: { maintenance: true },
};
server.answer = (folder) => (folder === 'broken' ? brokenCloud : statusDocument(products[folder]));
afterAll(() => server.stop());

type Account = Awaited<ReturnType<typeof addAccount>>;

const addAdmin = () => addAccount({ role: 'ADMIN' });
const addCloud = (account: Account, customerName: string, folder = 'fine') =>
  portalOf(account).post('/cloud-status/instances', {
    body: { customerName, statusUrl: `${server.origin}/${folder}` },
  });
const open = async (account: Account, query = '', look = {}) =>
  drawn(await openPage(`/app/cloud-status${query}`, { account, ...look }));
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const names = (page: Page) => page.getByRole('listitem').getByRole('heading', { level: 2 }).allInnerTexts();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const gone = { state: 'hidden' } as const;
const listed = (account: Account) => portalOf(account).get('/cloud-status/instances');

describe.skipIf(!hasBrowser)('the clouds', () => {
  it('begin with none; one is added by keyboard after rubbish was refused, and is checked at once', async () => {
    const account = await addAdmin();
    allow('400 POST /cloud-status/instances');
    const page = await open(account);
    await page.getByText('No clouds yet').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Add a cloud' }).first().click();
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Nordheim');
    await dialog(page).getByRole('textbox', { name: 'Address' }).fill('no address');
    await page.keyboard.press('Enter');
    await dialog(page).locator('[name="statusUrl"][aria-invalid="true"]').waitFor();
    expect(await dialog(page).getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Nordheim');
    await expectAccessible(page);
    await dialog(page).getByRole('textbox', { name: 'Address' }).fill(`${server.origin}/old`);
    await page.keyboard.press('Enter');
    await dialog(page).waitFor(gone);
    await card(page, 'Nordheim').getByText('Version without support').waitFor();
    await card(page, 'Nordheim').getByText('Testcloud 28.0.1, latest is 28.0.14').waitFor();
    await card(page, 'Nordheim')
      .getByText(/^Support ended on/)
      .waitFor();
    await expectAccessible(page);
  });

  it('have the worst first, and filters that stand in the address', async () => {
    const account = await addAdmin();
    for (const [name, folder] of [
      ['Altdorf', 'fine'],
      ['Bergen', 'upkeep'],
      ['Celle', 'old'],
      ['Deich', 'broken'],
    ] as const) {
      const { id } = await addCloud(account, name, folder);
      await portalOf(account).post('/cloud-status/instances/{id}/check', { params: { path: { id } } });
    }
    await addCloud(account, 'Emden');
    const page = await open(account);
    expect(await names(page)).toEqual(['Celle', 'Bergen', 'Deich', 'Emden', 'Altdorf']);
    await card(page, 'Deich').getByText('Last check failed').waitFor();
    await card(page, 'Deich').getByText('Last reachable: Never').waitFor();
    await expectAccessible(page);

    await button(page, '2 need attention').press('Enter');
    await expect.poll(() => names(page)).toEqual(['Bergen', 'Deich']);
    await button(page, '1 fault').click();
    await page.getByText('3 of 5 clouds').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('28.0 celle');
    await expect.poll(() => names(page)).toEqual(['Celle']);
    const { search } = new URL(page.url());
    const again = await open(account, search, { language: 'de', theme: 'dark', width: 320 });
    expect(await names(again)).toEqual(['Celle']);
    await expectAccessible(again);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing');
    await page.getByText('No cloud matches').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await expect.poll(() => names(page)).toHaveLength(5);
  });

  it('are subscribed to at once, which can be undone, and are checked once in ten seconds', async () => {
    const admin = await addAdmin();
    const account = await addAccount({ tenantId: admin.tenantId });
    await portalOf(admin).put('/module-grants', {
      body: { subjectType: 'user', subjectId: account.id, moduleKey: 'cloud-status', level: 'USE' },
    });
    await addCloud(admin, 'Nordheim');
    allow('429 POST /cloud-status/instances/:id/check');
    const page = await open(account);
    // Nothing of the administration
    for (const name of ['Add a cloud', 'Check all', 'Administration of “Nordheim”'])
      expect(await button(page, name).count()).toBe(0);

    const bell = button(page, 'Notify me of outages of “Nordheim”');
    const icon = () => bell.locator('svg').innerHTML();
    const silent = await icon();
    expect(silent).toContain('<path');
    await bell.click();
    expect(await bell.getAttribute('aria-pressed')).toBe('true');
    expect(await icon()).not.toBe(silent);
    await expect.poll(async () => (await listed(account))[0]?.subscribed).toBe(true);
    await button(page, '1 subscribed').waitFor();
    await button(page, 'Undo').click();
    expect(await bell.getAttribute('aria-pressed')).toBe('false');
    expect(await icon()).toBe(silent);
    await expect.poll(async () => (await listed(account))[0]?.subscribed).toBe(false);

    const check = button(page, 'Check “Nordheim” now');
    await check.click();
    await page.getByText('“Nordheim” checked: OK').waitFor();
    await check.click();
    await page.getByText(/The last check has only just started.*Please try again in \d+ seconds/).waitFor();

    await page.getByRole('link', { name: 'Nordheim' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nordheim' }).waitFor();
    await page.getByText('No outage reported yet').waitFor();
    for (const name of ['Edit', 'Delete']) expect(await button(page, name).count()).toBe(0);
    expect(await page.getByText('New logo').count()).toBe(0);
    await expectAccessible(page);
  });

  it('are all checked, with progress; an outage is in the history of all and of one', async () => {
    const account = await addAdmin();
    await addCloud(account, 'Altdorf');
    const failedOnce = { lastCheckState: 'failed', consecutiveFailures: 1, checkedAt: new Date() } as const;
    const down = await make.cloudInstance(account.tenantId, {
      customerName: 'Deich',
      statusUrl: `${server.origin}/broken`,
      ...failedOnce,
    });
    allow('429 POST /cloud-status/check');
    const page = await open(account);
    await button(page, 'Check all').click();
    await page.getByText(/^Done:/).waitFor();
    await card(page, 'Deich').getByText('Down').waitFor();
    await card(page, 'Altdorf').getByText('Current version').waitFor();
    await button(page, 'Check all').click();
    await page.getByText(/The last check has only just started/).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'History' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Deich' });
    await row.getByText('Down').waitFor();
    await expectAccessible(page);
    await row.getByRole('link', { name: 'Deich' }).click();
    await page.waitForURL(`**/app/cloud-status/${down.id}`);
    await page.getByRole('row').getByText('Down').waitFor();
  });

  it('are changed by two administrators without losing what either entered, get a logo, and are deleted', async () => {
    const account = await addAdmin();
    const colleague = await addAccount({ role: 'ADMIN', tenantId: account.tenantId });
    const { id } = await addCloud(account, 'Nordheim');
    allow('400 POST /cloud-status/instances/:id/logo');
    const page = await drawn(await openPage(`/app/cloud-status/${id}`, { account }));
    await button(page, 'Edit').click();
    const name = dialog(page).getByRole('textbox', { name: 'Name' });
    await name.fill('Nordheim GmbH');
    await portalOf(colleague).patch('/cloud-status/instances/{id}', {
      params: { path: { id } },
      body: { customerName: 'Nordheim AG' },
    });
    await name.press('Enter');
    await page.getByRole('heading', { name: 'Changed meanwhile' }).waitFor();
    await page.getByRole('cell', { name: 'Nordheim AG' }).waitFor();
    await button(page, 'Save my entries').click();
    await page.getByRole('heading', { level: 1, name: 'Nordheim GmbH' }).waitFor();
    expect((await listed(account))[0]?.customerName).toBe('Nordheim GmbH');

    const choose = button(page, 'Choose file');
    const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer });
    await chooseFiles(page, choose, file('page.png', Buffer.from('<h1>no picture</h1>')));
    await page.getByText('This picture does not fit.').waitFor();
    await chooseFiles(page, choose, file('huge.png', Buffer.alloc(1_048_577)));
    await page.getByText('This file has 1 MB.').waitFor();
    await chooseFiles(page, choose, file('logo.png', pngIcon()));
    await page.getByText('The logo is saved.').waitFor();
    const width = `document.querySelector('img[src*="/logo"]')?.naturalWidth`;
    await expect.poll(() => page.evaluate(width)).toBe(32);
    await expectAccessible(page);
    await button(page, 'Remove the logo').click();
    await dialog(page).getByRole('button', { name: 'Remove the logo' }).click();
    await page.getByText('The logo is removed.').waitFor();
    expect((await listed(account))[0]?.hasLogo).toBe(false);

    await button(page, 'Delete').click();
    await dialog(page).getByText('“Nordheim GmbH” is deleted with its logo and history').waitFor();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No clouds yet').waitFor();
    expect(await listed(account)).toEqual([]);
  });

  it('that are ten thousand begin with the worst, and are drawn as far as they are near the window', async () => {
    const account = await addAdmin();
    const first = await make.cloudInstance(account.tenantId, { customerName: 'Z last' });
    await sql(
      `insert into cloud_instances (id, tenant_id, customer_name, status_url, slot_sec, next_check_at, is_active)
       select gen_random_uuid(), tenant_id, 'Cloud ' || lpad(n::text, 5, '0'), status_url, n % 3600, next_check_at, false
       from cloud_instances, generate_series(1, 9999) n where id = $1`,
      [first.id],
    );
    const page = await drawn(await openPage('/app/me', { account }));
    const held = Promise.withResolvers<void>();
    let asked = 0;
    await page.route('**/cloud-status/instances', async (route) => {
      asked += 1;
      await held.promise;
      // A subscription cancels an answer that does not know of it.
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('link', { name: 'Cloud status' }).click();
    await page.getByText('10,000 clouds').waitFor();
    await page.getByText('10,000 not checked').waitFor();
    const bell = button(page, 'Notify me of outages of “Cloud 00001”');
    await bell.click();
    expect(await bell.getAttribute('aria-pressed')).toBe('true');
    await button(page, '1 subscribed').waitFor();
    // All of them have megabytes, and nobody has looked for more yet.
    expect(asked).toBe(0);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await expect.poll(() => asked).toBe(1);
    await card(page, 'Cloud 00100').waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await bell.click();
    expect(await bell.getAttribute('aria-pressed')).toBe('false');
    held.resolve();
    await drawn(page);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await card(page, 'Z last').waitFor();
    expect(await page.getByRole('listitem').count()).toBeLessThan(200);
    await page.evaluate('scrollTo(0, 0)');
    await bell.waitFor();
    await drawn(page);
    expect(await bell.getAttribute('aria-pressed')).toBe('false');
    expect(await page.getByRole('listitem').count()).toBeLessThan(200);
  });
});
