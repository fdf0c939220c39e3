import type { Download, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoiceSample } from '@portal/testing/einvoice-samples';
import { invoiceMail, mailWith } from '@portal/testing/invoices';
import { startDovecot, type TestDovecot } from '@portal/testing/servers/dovecot';
import { serviceBinary } from '@portal/testing/services';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

// The worker that comes with the mails fetches.
const { openPage, allow, addAccount, accountFor, portalOf, make, sql } = await servePages({ sendsMail: true });

const addAdmin = () => addAccount({ role: 'ADMIN' });
const addUser = () => accountFor({ module: 'invoice-mailbox', level: 'USE' });
type Account = Awaited<ReturnType<typeof addAdmin>>;

const open = async (account: Account, query = '', look = {}) =>
  drawn(await openPage(`/app/invoices${query}`, { account, ...look }));
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Invoices by state' }).getByRole('link', { name }).click();
const dialog = (page: Page) => page.getByRole('dialog');
const param = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);
/** The settings of an account on the test’s mail server, which is read only when a person asks for it. */
const settings = ({ host, port, password }: TestDovecot, username: string) =>
  ({ host, port, password, username, security: 'none', isActive: false }) as const;
const gone = { state: 'hidden' } as const;

describe.skipIf(!hasBrowser || !serviceBinary('dovecot'))('the mailbox for invoices', () => {
  let dovecot: TestDovecot;
  beforeAll(async () => {
    dovecot = await startDovecot();
  });
  afterAll(() => dovecot.stop());

  it('is set up: tested, which tells why it fails, and saved; the password is asked again for another account', async () => {
    const account = await addAdmin();
    await dovecot.makeFolder('ada', 'INBOX');
    await dovecot.makeFolder('ada', 'Done');
    allow('400 PUT /invoices/mailbox', '400 POST /invoices/mailbox/test');
    const page = await open(account);
    await page.getByText('No mailbox set up yet').waitFor();
    await page.getByRole('link', { name: 'Set up mailbox' }).press('Enter');
    await field(page, 'IMAP server').fill('imap://example org');
    await field(page, 'IMAP server').press('Enter');
    await page.locator('input[name="host"][aria-invalid="true"]').waitFor();
    expect(await field(page, 'IMAP server').inputValue()).toBe('imap://example org');

    await field(page, 'IMAP server').fill(dovecot.host);
    await page.getByRole('combobox', { name: 'Encryption' }).selectOption('None');
    await page.getByRole('spinbutton', { name: 'Port' }).fill(String(dovecot.port));
    await field(page, 'Username').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await button(page, 'Test mailbox').click();
    await page.getByText('Sign-in refused').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(dovecot.password);
    await field(page, 'Folder for mails that were read').fill('Missing');
    await button(page, 'Test mailbox').click();
    await page.getByText('Folder not found').waitFor();
    await expectAccessible(page);
    await field(page, 'Folder for mails that were read').fill('INBOX');
    await button(page, 'Test mailbox').click();
    await page.locator('input[name="processedFolder"][aria-invalid="true"]').waitFor();
    await field(page, 'Folder for mails that were read').fill('Done');
    await button(page, 'Test mailbox').click();
    await page.getByText('The mailbox can be read.').waitFor();
    await page.getByRole('switch', { name: 'Fetch by itself' }).uncheck();

    await page.getByRole('link', { name: 'To the invoices' }).click();
    await dialog(page).getByText('There are changes that are not saved.').waitFor();
    await button(page, 'Keep editing').click();
    await button(page, 'Save').click();
    await page.getByText('The mailbox is saved.').waitFor();
    await page.getByText('Fetching by itself is switched off.').waitFor();
    await page.getByText('Stored', { exact: true }).waitFor();

    await field(page, 'Username').fill('eve');
    await button(page, 'Save').click();
    await page.getByText('Please enter it again').waitFor();
    await button(page, 'Discard').click();
    expect(await portalOf(account).get('/invoices/mailbox')).toMatchObject({
      username: 'ada',
      processedFolder: 'Done',
    });
  });

  it('changed by another administrator is not overwritten unseen, and is removed after a question', async () => {
    const account = await addAdmin();
    const other = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    const body = settings(dovecot, 'ada');
    await other.put('/invoices/mailbox', { body });
    const page = await open(account, '?view=mailbox');
    await field(page, 'Folder for unreadable mails').fill('Mine');
    await other.put('/invoices/mailbox', { body: { ...body, failedFolder: 'Theirs' } });
    await button(page, 'Save').click();
    await dialog(page).getByText('Theirs').waitFor();
    await button(page, 'Save my entries').click();
    await page.getByText('The mailbox is saved.').waitFor();
    expect((await other.get('/invoices/mailbox')).failedFolder).toBe('Mine');

    await button(page, 'Remove mailbox').click();
    await dialog(page).getByText(`ada at ${dovecot.host}`).waitFor();
    await expectAccessible(page);
    await dialog(page).getByRole('button', { name: 'Remove mailbox' }).click();
    await page.getByText('The mailbox is removed.').waitFor();
    expect(await field(page, 'IMAP server').inputValue()).toBe('');
    expect((await other.get('/invoices/mailbox')).host).toBeNull();
  });

  it('is fetched; what it brought is listed, read beside its document and marked, by keyboard', async () => {
    const account = await addUser();
    const admin = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    const mails = [
      invoiceMail({ number: 'R-1', seller: 'Bürobedarf Nord GmbH', total: '1190.50' }),
      invoiceMail({ number: 'R-1', seller: 'Bürobedarf Nord GmbH', total: '1190.50', note: 'sent twice' }),
      mailWith({ attachments: [{ name: 'broken.xml', type: 'application/xml', bytes: '<Invoice><a>' }] }),
      mailWith({
        attachments: [
          {
            name: 'zugferd.pdf',
            type: 'application/pdf',
            bytes: invoiceSample('zugferd-corpus/EN16931_Einfach.pdf'),
          },
        ],
      }),
    ];
    await dovecot.makeFolder('bob', 'INBOX');
    for (const mail of mails) await dovecot.deliver('bob', mail);
    await admin.put('/invoices/mailbox', { body: settings(dovecot, 'bob') });
    allow('429 POST /invoices/fetch');
    const page = await open(account);
    await page.getByText('No new invoices').waitFor();
    await button(page, 'Fetch now').press('Enter');
    await page.getByText('4 new mails read.').waitFor({ timeout: 40_000 });
    await row(page, 'Bürobedarf Nord GmbH').getByText('€1,190.50').waitFor();
    await row(page, 'ZUGFeRD').waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
    await expectAccessible(page);
    await button(page, 'Fetch now').click();
    await page.getByText('The last check has only just started.').or(page.getByText('No new mails')).first().waitFor();

    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.fill('nothing like it');
    await page.getByText('No invoice matches this search').waitFor();
    await search.fill('nord');
    await row(page, 'R-1').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(param(page, 'search')).toBe('nord');
    await search.fill('');
    await row(page, 'ZUGFeRD').waitFor();

    await row(page, 'R-1').getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'R-1' }).waitFor();
    await page.getByText('DE123456789').waitFor();
    await page.getByRole('region', { name: 'Text of R-1.xml' }).getByText('<cbc:ID>R-1</cbc:ID>').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('ArrowLeft');
    await page.getByText('The figures come from the data inside this PDF.', { exact: false }).waitFor();
    await page.getByText('1 of 2').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('zugferd.pdf');
    // This Chromium shows no PDF: its new window downloads it.
    const { promise: beside, resolve } = Promise.withResolvers<Download>();
    page.once('popup', (window) => window.once('download', resolve));
    await button(page, 'Open in a new tab').click();
    expect((await beside).url()).toMatch(/^blob:/);
    await button(page, 'Next invoice').click();
    await page.getByRole('heading', { level: 1, name: 'R-1' }).waitFor();
    await button(page, 'Mark as processed').press('Enter');
    await page.getByText('“R-1” is processed.').waitFor();
    await button(page, 'Undo').click();
    await page.getByText('Undone.').waitFor();
    await button(page, 'Mark as processed').click();
    await button(page, 'Mark as new').waitFor();
    await page.getByRole('link', { name: 'All invoices' }).click();
    await row(page, 'R-1').waitFor(gone);

    await tab(page, 'Duplicate');
    await row(page, 'R-1').getByRole('link').click();
    await page.getByText('Possibly a duplicate').waitFor();
    // Taken back, it is a duplicate again.
    await button(page, 'Mark as processed').click();
    await button(page, 'Mark as new').waitFor();
    await button(page, 'Undo').last().click();
    await button(page, 'Mark as processed').waitFor();
    const duplicates = await portalOf(account).get('/invoices', { params: { query: { state: 'duplicate' } } });
    expect(duplicates).toMatchObject([{ number: 'R-1' }]);
    await page.getByRole('link', { name: 'To the earlier invoice' }).click();
    await button(page, 'Mark as new').waitFor();
    await page.getByRole('link', { name: 'All invoices' }).click();
    expect(param(page, 'state')).toBe('all');
    await tab(page, 'Unreadable');
    await row(page, 'broken.xml').getByRole('link').click();
    await page.getByText('Please ask the sender to send it again.', { exact: false }).waitFor();
    await page.getByRole('region', { name: 'Text of broken.xml' }).getByText('<Invoice>').waitFor();
    await expectAccessible(page);
  });
});

describe.skipIf(!hasBrowser)('invoices', () => {
  it('are marked several at once, taken back, and those that stayed as they were are named', async () => {
    const account = await addUser();
    const day = { date: '2026-01-02', dueDate: '2026-01-16', totalCents: 5_00, currency: 'EUR' };
    for (const number of ['A-1', 'A-2', 'A-3']) await make.invoice(account.tenantId, { number, ...day });
    allow('404 PATCH /invoices/:id');
    const page = await open(account);
    await row(page, 'A-1').getByText('days overdue').waitFor();
    await page.getByRole('checkbox', { name: 'Select all listed' }).check();
    await button(page, 'Mark as processed').click();
    await page.getByText('3 invoices are processed.').waitFor();
    await page.getByText('No new invoices').waitFor();
    await page.keyboard.press('Control+z');
    await page.getByText('Undone.').waitFor();
    await row(page, 'A-3').waitFor();

    await sql('delete from invoices where tenant_id = $1 and number = $2', [account.tenantId, 'A-2']);
    await page.getByRole('checkbox', { name: 'Select all listed' }).check();
    await button(page, 'Mark as processed').click();
    await dialog(page).getByText('1 not changed:').waitFor();
    await dialog(page).getByRole('listitem').filter({ hasText: 'A-2' }).waitFor();
    await expectAccessible(page);
    await dialog(page).getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('2 invoices are processed.').waitFor();
    await tab(page, 'Processed');
    await row(page, 'A-1').waitFor();
    expect(await row(page, 'A-2').count()).toBe(0);
  });

  it('of an account that may only use them say whom to ask, and stay in a narrow window', async () => {
    const account = await addUser();
    allow('409 POST /invoices/fetch');
    await make.invoice(account.tenantId, { number: 'B-1', typeCode: '381', iban: 'DE02120300000000202015' });
    const page = await open(account, '', { width: 320, height: 640 });
    await page.getByText('Credit note').waitFor();
    expect(await page.getByRole('link', { name: 'Mailbox' }).count()).toBe(0);
    await button(page, 'Fetch now').click();
    await page.getByText('There is nothing to fetch yet.', { exact: false }).waitFor();
    expect(await page.getByRole('link', { name: 'Set up mailbox' }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'B-1' }).click();
    await page.getByText('Its check digits are wrong.', { exact: false }).waitFor();
    await page.getByText('no document is stored', { exact: false }).waitFor();
    await expectAccessible(page);
    await page.goto('/app/invoices?view=mailbox');
    await page.getByText('The mailbox is set up by people').waitFor();
  });
});
