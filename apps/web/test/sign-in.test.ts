import type { Page } from 'playwright-core';
import { describe, expect, it, vi } from 'vitest';
import { hasBrowser } from './chromium.ts';
import { drawn } from './drawn.ts';
import { servePages } from './serve-pages.ts';

const { openPage, allow, addAccount, portalOf, mailedLink, service } = await servePages({ sendsMail: true });

const newPassword = 'four candles and a fork';

// The page asks whose session the browser has, and the answer is that it has none.
const noSession = '401 GET /auth/me';

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Username' }).fill(username);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

describe.skipIf(!hasBrowser)('signing in', () => {
  it('opens the dashboard', async () => {
    const { username, password } = await addAccount();
    allow(noSession);
    const page = await openPage('/');
    await heading(page, 'Sign in').waitFor();
    await signIn(page, username, password);
    await page.waitForURL('**/app');
    await drawn(page);
    await page.getByRole('navigation').first().waitFor();
  });

  it('is asked for once the session is over, before anything of the account is', async () => {
    allow(noSession);
    const page = await drawn(await openPage('/app', { account: await addAccount() }));
    await page.context().clearCookies();
    await page.goto('/app');
    await heading(page, 'Sign in').waitFor();
  });

  it('leads back to the page that was asked for, with its query', async () => {
    const { username, password } = await addAccount();
    allow(noSession);
    const page = await openPage('/app/reminders?state=done');
    await heading(page, 'Sign in').waitFor();
    await signIn(page, username, password);
    await heading(page, 'Reminders').waitFor();
    expect(new URL(page.url()).search).toBe('?state=done');
  });

  it('never leads to another host', async () => {
    const { username, password } = await addAccount();
    allow(noSession);
    const page = await openPage(`/app/sign-in?next=${encodeURIComponent('//example.org/app')}`);
    await signIn(page, username, password);
    await page.waitForURL('**/app');
  });

  it('keeps the name after a wrong password, says why, and puts the cursor where to go on', async () => {
    const { username, password } = await addAccount();
    allow(noSession, '401 POST /auth/login');
    const page = await openPage('/app/sign-in');
    await signIn(page, username, 'not the right words');
    await page.getByRole('alert').filter({ hasText: 'password' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Username' }).inputValue()).toBe(username);
    expect(await page.getByLabel(/^Password/).evaluate((field) => field === document.activeElement)).toBe(true);
    // The cursor replaces the wrong words.
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/app');
  });

  it('says after too many wrong passwords that it was too often, and until when', async () => {
    const { username } = await addAccount();
    allow(noSession, '429 POST /auth/login');
    for (let n = 0; n < 10; n += 1)
      await fetch(`${service.url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username, password: `wrong words ${n}` }),
      });
    const page = await openPage('/app/sign-in');
    await signIn(page, username, 'more wrong words');
    const alert = page.getByRole('alert');
    await alert.getByText(/too many attempts/i).waitFor();
    expect(await alert.textContent()).toMatch(/in \d+ (seconds|minutes?)/);
  });
});

describe.skipIf(!hasBrowser)('a forgotten password', () => {
  it('is replaced by the link of the mail that arrives', async () => {
    const { username, email } = await addAccount();
    allow(noSession);
    const page = await openPage('/app/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('textbox', { name: 'Username or e-mail address' }).fill(username);
    await page.getByRole('button', { name: 'Request link' }).click();
    await page.getByText('the mail is on its way').waitFor();

    const link = await mailedLink(email, '/reset-password#token=');
    const mailed = await openPage(link, { beside: page });
    await heading(mailed, 'New password').waitFor();
    expect(mailed.url()).not.toContain('token');
    await mailed.getByLabel(/^New password/).fill('short');
    await mailed.getByText('Too short').waitFor();
    await mailed.getByLabel(/^New password/).fill(newPassword);
    await mailed.getByRole('button', { name: 'Save password' }).click();
    await mailed.getByText('Your new password is saved').waitFor();
    await signIn(mailed, username, newPassword);
    await mailed.waitForURL('**/app');
  });

  it('stays as it is if the new one is a common one, and the link stays usable', async () => {
    const { username, email } = await addAccount();
    allow(noSession, '400 POST /auth/reset-password');
    await portalOf(null).post('/auth/request-reset', { body: { identifier: username, language: 'en' } });
    const page = await openPage(await mailedLink(email, '/reset-password#token='));
    const field = page.getByLabel(/^New password/);
    await field.fill('password123');
    await page.getByRole('button', { name: 'Save password' }).click();
    await page.getByText('This password is too common').first().waitFor();
    expect(await field.inputValue()).toBe('password123');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill(newPassword);
    await page.getByRole('button', { name: 'Save password' }).click();
    await page.getByText('Your new password is saved').waitFor();
  });

  it.each([
    ['/reset-password', 'This link is incomplete'],
    ['/reset-password#token=', 'This link is incomplete'],
    ['/confirm-email', 'This link is incomplete'],
  ])('with the link %s says what is wrong with it', async (path, text) => {
    const page = await openPage(path);
    await page.getByText(text).waitFor();
  });

  it('with a used link says so and offers another one', async () => {
    allow('400 POST /auth/reset-password');
    const page = await openPage(`/reset-password#token=${'x'.repeat(43)}`);
    await page.getByLabel(/^New password/).fill(newPassword);
    await page.getByRole('button', { name: 'Save password' }).click();
    await page.getByText('This link is no longer valid').waitFor();
    await page.getByRole('link', { name: 'Request a new link' }).click();
    await heading(page, 'Forgotten password').waitFor();
  });
});

describe.skipIf(!hasBrowser)('a password that must be changed', () => {
  it('comes before everything else', async () => {
    const { username, password } = await addAccount({ mustChangePassword: true });
    allow(noSession, '400 POST /auth/change-password', '401 POST /auth/change-password');
    const page = await openPage('/app/reminders');
    await signIn(page, username, password);
    await heading(page, 'Change password').waitFor();
    const save = () => page.getByRole('button', { name: 'Save password' }).click();

    await page.getByLabel(/^Current password/).fill(password);
    await page.getByLabel(/^New password/).fill(password);
    await save();
    await page.getByText('must differ from the current one').first().waitFor();
    await page.getByLabel(/^Current password/).fill('not the right words');
    await page.getByLabel(/^New password/).fill(newPassword);
    await save();
    await page.getByText('This password is not correct').first().waitFor();
    await page.getByLabel(/^Current password/).fill(password);
    await save();
    await heading(page, 'Reminders').waitFor();
  });

  it('is asked for wherever the account is when an administrator demands it', async () => {
    const account = await addAccount({ mustChangePassword: true });
    const page = await openPage('/app/me', { account });
    await heading(page, 'Change password').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    allow(noSession);
  });
});

describe.skipIf(!hasBrowser)('a new e-mail address', () => {
  it('counts once its link is opened and confirmed', async () => {
    const account = await addAccount();
    const wanted = `new-${account.email}`;
    const portal = portalOf(account);
    await portal.patch('/users/me', { body: { email: wanted, currentPassword: account.password } });
    const page = await openPage(await mailedLink(wanted, '/confirm-email#token='), { account });
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.getByText('Your new e-mail address is confirmed').waitFor();
    expect((await portal.get('/auth/me')).email).toBe(wanted);
    await page.getByRole('link', { name: 'Go to my account' }).click();
    await page.waitForURL('**/app/me');
  });
});

describe.skipIf(!hasBrowser)('a half-written form', () => {
  async function halfWritten(
    account: Awaited<ReturnType<typeof addAccount>>,
    title: string,
    prepare: (page: Page) => Promise<unknown> = async () => undefined,
  ): Promise<Page> {
    const page = await openPage('/app/reminders', { account });
    await prepare(page);
    await page.getByRole('button', { name: 'New reminder' }).first().click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).fill(title);
    return page;
  }
  const save = (page: Page) =>
    page.getByRole('dialog', { name: 'New reminder' }).getByRole('button', { name: 'Save' }).click();

  it('is still there after the session ended elsewhere and the person signed in again', async () => {
    const account = await addAccount();
    allow('401 ');
    // A call from before is refused, and the page hears of it only after the sign-in.
    const [ended, signedIn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answers: number[] = [];
    const page = await halfWritten(account, 'Call the plumber', (opened) =>
      opened.route('**/reminders/email-status', async (route) => {
        await ended.promise;
        const response = await route.fetch();
        answers.push(response.status());
        await signedIn.promise;
        // The page may have given it up.
        await route.fulfill({ response }).catch(() => undefined);
      }),
    );
    await portalOf(account).post('/auth/logout-all');
    ended.resolve();
    await save(page);
    await expect.poll(() => answers[0]).toBe(401);
    const dialog = page.getByRole('dialog', { name: 'Please sign in again' });
    await dialog.getByText(account.username).waitFor();
    await dialog.getByLabel(/^Password/).fill(account.password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    signedIn.resolve();
    await page.unrouteAll({ behavior: 'wait' });
    const title = page.getByRole('textbox', { name: 'Title' });
    expect(await title.inputValue()).toBe('Call the plumber');
    expect(await dialog.isVisible()).toBe(false);
    await save(page);
    await page.getByRole('main').getByText('Call the plumber').waitFor();
  });

  it('is sent after the service was away', async () => {
    const account = await addAccount();
    allow('unreachable ', '503 ');
    const page = await halfWritten(account, 'Water the plants');
    await service.stop();
    await save(page);
    await page.getByText('The connection to the portal is lost').first().waitFor();
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Water the plants');
    await service.start();
    // The person tries again until it works.
    await vi.waitFor(
      async () => {
        if (await page.getByRole('dialog').isVisible()) await save(page);
        await page.getByRole('dialog').waitFor({ state: 'hidden', timeout: 2_000 });
      },
      { timeout: 30_000 },
    );
    await page.getByRole('main').getByText('Water the plants').waitFor();
  });
});
