import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startDovecot } from '@portal/testing/servers/dovecot';
import { serviceBinary } from '@portal/testing/services';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, accountFor, portalOf } = await servePages({
  env: { OUTBOUND_ALLOW_HOSTS: '127.0.0.1' },
});

const addUser = () => accountFor({ module: 'tender-radar', level: 'USE' });
type Account = Awaited<ReturnType<typeof addUser>>;

const open = async (account: Account, look = {}) => drawn(await openPage('/app/tenders/sources', { account, ...look }));
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog');
const feeds = (page: Page) => page.getByRole('table', { name: 'Feeds' });
const health = (page: Page) => page.getByRole('table', { name: 'State of the sources' });
const gone = { state: 'hidden' } as const;

describe.skipIf(!hasBrowser)('the digest', () => {
  it('is chosen by keys, and says when the next goes out and what is missing', async () => {
    const account = await addUser();
    const page = await open(account);
    const tabs = page.getByRole('navigation', { name: 'Tenders' });
    expect(await tabs.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual(
      ['/app/tenders', '/app/tenders/searches', '/app/tenders/sources'],
    );
    await page.getByText('Without a saved search there is nothing to report.').waitFor();
    await expectAccessible(page);
    const body = { name: 'Roads', filters: { text: { any: ['road'] } } };
    await portalOf(account).post('/tenders/saved-searches', { body });
    await page.reload();
    await page.getByText(/The next digest goes to .* at 07:00/).waitFor();
    await page.getByRole('radio', { name: 'Every day at 7:00' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByText(/on Monday/).waitFor();
    await expect.poll(() => portalOf(account).get('/tenders/notification-preference')).toEqual({ digest: 'weekly' });
    await page.getByRole('radio', { name: 'Never' }).check();
    await page.getByText('What appears in the meantime').waitFor();
  });
});

describe.skipIf(!hasBrowser)('feeds', () => {
  it('keep a title that is typed before its form is painted', async () => {
    const account = await addUser();
    await portalOf(account).post('/rss-feeds', {
      body: { url: 'https://vergabe.example.org/feed.xml', title: null, scope: 'personal' },
    });
    const page = await open(account);
    const rename = button(page, 'Rename “https://vergabe.example.org/feed.xml”');
    // Only promises: a browser paints between tasks.
    await rename.evaluate(async (opener: HTMLElement) => {
      opener.click();
      for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
      const title = document.querySelector<HTMLInputElement>('dialog input[name="title"]');
      if (!title) throw new Error('the form is not there');
      title.value = 'Musterhausen';
      title.dispatchEvent(new InputEvent('input', { bubbles: true }));
    });
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await feeds(page).getByText('Musterhausen', { exact: true }).waitFor();
  });

  it('are added for the person; rubbish, and one that is there, are refused with what was typed', async () => {
    const account = await addUser();
    allow('400 POST /rss-feeds', '409 POST /rss-feeds');
    const page = await open(account);
    await page.getByText('No feed yet').waitFor();
    const add = async (url: string) => {
      await field(page, 'Address of the feed').fill(url);
      await field(page, 'Address of the feed').press('Enter');
    };
    await button(page, 'Add feed').press('Enter');
    expect(await page.getByRole('radio', { name: 'Everybody' }).count()).toBe(0);
    await add('ftp://nowhere');
    await page.locator('input[name="url"][aria-invalid="true"]').waitFor();
    await expectAccessible(page);
    await add('https://vergabe.example.org/feed.xml');
    await dialog(page).waitFor(gone);
    await feeds(page).getByText('Not read yet').waitFor();
    await button(page, 'Add feed').click();
    await add('https://vergabe.example.org/feed.xml#again');
    await page.locator('input[name="url"][aria-invalid="true"]').waitFor();
    await dialog(page).getByRole('alert').getByText('already registered').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();

    await button(page, 'Rename “https://vergabe.example.org/feed.xml”').click();
    await field(page, 'Title').fill('Musterhausen');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await feeds(page).getByText('Musterhausen', { exact: true }).waitFor();
    await page.getByRole('switch', { name: 'Read “Musterhausen”' }).uncheck();
    await expect.poll(() => portalOf(account).get('/rss-feeds')).toMatchObject([{ isActive: false }]);
    await expectAccessible(page);
    await button(page, 'Delete “Musterhausen”').click();
    await dialog(page).getByText('“Musterhausen” and all tenders').waitFor();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No feed yet').waitFor();
  });

  it('of the platform belong to administrators; the operator reads a source once at a time', async () => {
    const operator = await addAccount({ role: 'SUPER_ADMIN' });
    const page = await open(operator);
    await button(page, 'Add feed').click();
    await field(page, 'Address of the feed').fill('https://all.example.org/feed.xml');
    await field(page, 'Title').fill('For all');
    await page.getByRole('radio', { name: 'Everybody' }).check();
    await button(page, 'Add').click();
    await feeds(page).getByText('For all', { exact: true }).waitFor();
    // Another administrator renames it meanwhile.
    const [feed] = await portalOf(operator).get('/rss-feeds');
    await button(page, 'Rename “For all”').click();
    await field(page, 'Title').fill('Mine');
    const params = { path: { id: feed?.id ?? '' } };
    await portalOf(operator).patch('/rss-feeds/{id}', { params, body: { title: 'Theirs' } });
    await dialog(page).getByRole('button', { name: 'Save', exact: true }).click();
    await dialog(page).getByText('Theirs').waitFor();
    await button(page, 'Save my entries').click();
    await feeds(page).getByText('Mine', { exact: true }).waitFor();
    await portalOf(operator).patch('/rss-feeds/{id}', { params, body: { title: 'For all' } });
    await page.reload();
    await feeds(page).getByText('For all', { exact: true }).waitFor();
    await expect.poll(() => health(page).getByText('Switched off').count()).toBe(3);
    allow('409 POST /tenders/sources');
    await button(page, 'Read For all now').click();
    await health(page).getByText('Being read').waitFor();
    await button(page, 'Read For all now').click();
    await page.getByText('For all is being read right now.').waitFor();
    await expectAccessible(page);

    const user = await addUser();
    const other = await open(user, { width: 360, height: 740 });
    await feeds(other).getByText('For all', { exact: true }).waitFor();
    expect(await button(other, 'Delete “For all”').count()).toBe(0);
    expect(await button(other, 'Read For all now').count()).toBe(0);
    await expectAccessible(other);
    await portalOf(operator).delete('/rss-feeds/{id}', { params });
  });
});

describe.skipIf(!hasBrowser || !serviceBinary('dovecot'))('the alert mailbox', () => {
  it('is tested with a plain reason, saved, kept with its password, and removed', async () => {
    const dovecot = await startDovecot();
    try {
      await dovecot.makeFolder('ada', 'Alerts');
      const account = await addUser();
      allow('400 PUT /tenders/mailbox-alert');
      const page = await open(account);
      const password = page.getByLabel('Password', { exact: true });
      await field(page, 'IMAP server').fill('imap example');
      await field(page, 'IMAP server').press('Enter');
      await page.locator('input[name="host"][aria-invalid="true"]').waitFor();
      await field(page, 'IMAP server').fill(dovecot.host);
      await page.getByRole('combobox', { name: 'Encryption' }).selectOption('None');
      await page.getByRole('spinbutton', { name: 'Port' }).fill('1');
      await field(page, 'Username').fill('ada');
      await password.fill('wrong');
      await button(page, 'Test').click();
      await page.getByText('Mail server not reachable').waitFor();
      await page.getByRole('spinbutton', { name: 'Port' }).fill(String(dovecot.port));
      await button(page, 'Test').click();
      await page.getByText('Sign-in refused').waitFor();
      await password.fill(dovecot.password);
      await field(page, 'Folder').fill('Nowhere');
      await button(page, 'Test').click();
      await page.getByText('Folder not found').waitFor();
      await expectAccessible(page);
      await field(page, 'Folder').fill('Alerts');
      await page.getByText('Folder not found').waitFor(gone);
      await button(page, 'Test').click();
      await page.getByText('The mailbox can be read.').waitFor();

      await page.getByRole('navigation', { name: 'Tenders' }).getByRole('link', { name: 'Saved searches' }).click();
      await dialog(page).getByText('changes that are not saved').waitFor();
      await button(page, 'Keep editing').click();
      await button(page, 'Save').click();
      await page.getByText('The mailbox is saved.').waitFor();
      await page.getByText('Will be read for the first time in a moment.').waitFor();
      await field(page, 'Username').fill('eve');
      await button(page, 'Save').click();
      await page.getByText('Please enter it again').waitFor();
      await button(page, 'Discard').click();
      await page.getByText('Stored', { exact: true }).waitFor();
      expect(await portalOf(account).get('/tenders/mailbox-alert')).toMatchObject({
        username: 'ada',
        folder: 'Alerts',
      });

      await button(page, 'Remove mailbox').click();
      await dialog(page).getByText(`The account ada at ${dovecot.host}`).waitFor();
      await dialog(page).getByRole('button', { name: 'Remove' }).click();
      await page.getByText('The mailbox is removed.').waitFor();
      expect(await portalOf(account).get('/tenders/mailbox-alert')).toMatchObject({ host: null, hasPassword: false });
    } finally {
      await dovecot.stop();
    }
  });
});
