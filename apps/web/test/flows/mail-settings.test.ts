import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf } = await servePages({ sendsMail: true });
const smtp = await startSmtpServer({ auth: { username: 'portal', password: 'mail secret' } });
afterAll(() => smtp.stop());

const addAdmin = () => addAccount({ role: 'ADMIN' });
type Admin = Awaited<ReturnType<typeof addAdmin>>;

const ownServer = {
  host: '127.0.0.1',
  port: smtp.port,
  security: 'none',
  username: 'portal',
  password: 'mail secret',
  fromAddress: 'portal@example.org',
} as const;
const openMail = async (account: Admin, look = {}) => drawn(await openPage('/app/admin/mail', { account, ...look }));
const openWelcome = async (account: Admin, look = {}) =>
  drawn(await openPage('/app/admin/welcome-mail', { account, ...look }));
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const refusedFields = (page: Page) =>
  page.locator('[aria-invalid="true"]').evaluateAll((controls) => controls.map((one) => one.getAttribute('name')));

describe.skipIf(!hasBrowser)('the mail settings', () => {
  it('of an own server are tested, which tells why it fails, and then saved', async () => {
    const account = await addAdmin();
    allow('502 POST /smtp-config/test', '400 POST /smtp-config/test');
    const page = await openMail(account);
    await page.getByText('0 of 2,000 mails').waitFor();
    await page.getByRole('radio', { name: 'Your own mail server' }).check();
    // Rubbish first
    await page.getByRole('spinbutton', { name: 'Port' }).fill('99999');
    await click(page, 'Send test mail');
    await expect.poll(() => refusedFields(page)).toEqual(['port']);
    await expectAccessible(page);

    await field(page, 'Server').fill('127.0.0.1');
    await page.getByRole('combobox', { name: 'Encryption' }).selectOption('None');
    await page.getByRole('spinbutton', { name: 'Port' }).fill(String(smtp.port));
    await field(page, 'Username').fill('portal');
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await field(page, 'Sender address').fill('portal@example.org');
    await field(page, 'To').fill('somebody@example.org');
    await click(page, 'Send test mail');
    await page.getByText('Sign-in refused').waitFor();
    await page.getByText('did not accept the user name or password').waitFor();

    await page.getByLabel('Password', { exact: true }).fill('mail secret');
    // By keyboard
    await field(page, 'To').press('Enter');
    await page.getByText('The test mail to somebody@example.org is on its way.').waitFor();
    await smtp.waitFor(({ envelopeTo }) => envelopeTo.includes('somebody@example.org'));

    await click(page, 'Save');
    await page.getByText('The mail settings are saved.').waitFor();
    await page.getByText('Stored', { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await portalOf(account).get('/smtp-config')).toMatchObject({
      host: '127.0.0.1',
      port: smtp.port,
      username: 'portal',
      hasPassword: true,
    });
  });

  it('ask for the password again if it would go to another server', async () => {
    const account = await addAdmin();
    await portalOf(account).put('/smtp-config', { body: ownServer });
    allow('400 PUT /smtp-config');
    const page = await openMail(account);
    await field(page, 'Server').fill('localhost');
    await click(page, 'Save');
    const password = page.getByLabel('Password', { exact: true });
    await password.waitFor();
    await expect.poll(() => password.evaluate((control) => control === document.activeElement)).toBe(true);
    expect(await field(page, 'Server').inputValue()).toBe('localhost');
    await password.fill('mail secret');
    await click(page, 'Save');
    await page.getByText('The mail settings are saved.').waitFor();
    expect(await portalOf(account).get('/smtp-config')).toMatchObject({ host: 'localhost', hasPassword: true });
  });

  it('go back to the server of the portal after a question that names what goes', async () => {
    const account = await addAdmin();
    await portalOf(account).put('/smtp-config', { body: { ...ownServer, bugReportRecipient: 'it@example.org' } });
    const page = await openMail(account);
    await page.getByRole('radio', { name: 'The portal’s mail server' }).check();
    await click(page, 'Save');
    await page.getByRole('dialog').getByText('127.0.0.1').waitFor();
    await click(page, 'Change');
    await page.getByText('The mail settings are saved.').waitFor();
    expect(await portalOf(account).get('/smtp-config')).toMatchObject({
      host: null,
      hasPassword: false,
      bugReportRecipient: 'it@example.org',
    });
  });

  it('changed by another administrator are not overwritten unseen', async () => {
    const account = await addAdmin();
    const other = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    await other.put('/smtp-config', { body: ownServer });
    const page = await openMail(account);
    await field(page, 'Sender name').fill('Mine');
    await other.put('/smtp-config', { body: { ...ownServer, fromName: 'Theirs', replyTo: 'it@example.org' } });
    await click(page, 'Save');
    const question = page.getByRole('dialog');
    await question.getByText('Theirs').waitFor();
    await question.getByText('it@example.org').waitFor();
    await click(page, 'Take the stored ones');
    expect(await field(page, 'Sender name').inputValue()).toBe('Theirs');

    await field(page, 'Sender name').fill('Mine again');
    await other.put('/smtp-config', { body: { ...ownServer, fromName: 'Theirs again', replyTo: 'it@example.org' } });
    await click(page, 'Save');
    await click(page, 'Save my entries');
    await page.getByText('The mail settings are saved.').waitFor();
    expect(await other.get('/smtp-config')).toMatchObject({ fromName: 'Mine again', replyTo: 'it@example.org' });
  });
});

describe.skipIf(!hasBrowser)('the welcome mail', () => {
  it('is previewed while it is written, tested, saved and set back', async () => {
    const account = await addAdmin();
    await portalOf(account).put('/smtp-config', { body: ownServer });
    allow('400 POST /welcome-mail/template/preview');
    const page = await openWelcome(account);
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByText('Willkommen, Erika!').waitFor();

    await field(page, 'Heading').fill('Hello, !');
    await field(page, 'Heading').press('ArrowLeft');
    // By keyboard: the placeholder goes to where the cursor was.
    await page.getByRole('button', { name: 'First name' }).press('Enter');
    expect(await field(page, 'Heading').inputValue()).toBe('Hello, {{vorname}}!');
    await preview.getByText('Hello, Erika!').waitFor();

    await field(page, 'Subject').fill('For {{nobody}}');
    await preview.getByText('as soon as the texts are right').waitFor();
    expect(await refusedFields(page)).toEqual(['subject']);
    await expectAccessible(page);
    await field(page, 'Subject').fill('For {{name}} <b>now</b>');
    await preview.getByText('For Erika Beispiel <b>now</b>').waitFor();

    await click(page, 'Send me a test mail');
    await preview.getByText('is on its way').waitFor();
    await smtp.waitFor(({ envelopeTo, subject }) => envelopeTo.includes(account.email) && subject.includes('For '));

    await click(page, 'Save');
    await page.getByText('The welcome mail is saved.').waitFor();
    expect(await portalOf(account).get('/welcome-mail/template')).toMatchObject({ heading: 'Hello, {{vorname}}!' });

    await click(page, 'Built-in text');
    await click(page, 'Delete texts');
    await page.getByText('The built-in text applies again.').waitFor();
    await preview.getByText('Willkommen, Erika!').waitFor();
    expect(await field(page, 'Heading').inputValue()).toBe('Willkommen, {{vorname}}!');
  });

  it('that another administrator changed meanwhile shows both texts, on a telephone as well', async () => {
    const account = await addAdmin();
    const other = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
    const page = await openWelcome(account, { width: 320, height: 640 });
    await field(page, 'Subject').fill('My subject');
    const template = await other.get('/welcome-mail/template');
    await other.put('/welcome-mail/template', { body: { ...template, subject: 'Their subject' } });
    await click(page, 'Save');
    await page.getByRole('dialog').getByText('Their subject').waitFor();
    await click(page, 'Save my entries');
    await page.getByText('The welcome mail is saved.').waitFor();
    expect((await other.get('/welcome-mail/template')).subject).toBe('My subject');
    await expectAccessible(page);
  });
});
