import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, addAccount, portalOf, make } = await servePages();

type Account = Awaited<ReturnType<typeof addAccount>>;

const minuteMs = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * minuteMs);
const openReminders = async (account: Account, query = '', look = {}) =>
  drawn(await openPage(`/app/reminders${query}`, { account, ...look }));
const form = (page: Page) => page.getByRole('dialog');
const save = (page: Page) => form(page).getByRole('button', { name: 'Save' }).click();
const listed = (page: Page, title: string) => page.getByRole('listitem').filter({ hasText: title });
const stateOf = (account: Account, state: 'open' | 'due' | 'done') =>
  portalOf(account).get('/reminders', { params: { query: { state } } });

describe.skipIf(!hasBrowser)('a reminder', () => {
  it('is made with a note and a time on the clock of Berlin', async () => {
    const account = await addAccount();
    const page = await openReminders(account);
    await page.getByText('No open reminders').waitFor();
    await page.getByRole('button', { name: 'New reminder' }).click();
    await expectAccessible(page);
    await form(page).getByRole('textbox', { name: 'Title' }).fill('Renew the contract');
    await form(page).getByRole('textbox', { name: 'Note' }).fill('Ask for\na discount');
    await form(page)
      .getByLabel(/^When\?/)
      .fill('2031-07-01T09:30');
    await save(page);
    await listed(page, 'Renew the contract').waitFor();
    const [reminder] = await stateOf(account, 'open');
    // Summer time: two hours ahead of UTC.
    expect(reminder).toMatchObject({ note: 'Ask for\na discount', dueAt: '2031-07-01T07:30:00.000Z' });
    await expectAccessible(page);
  });

  it('is made by the palette’s address, and the address forgets it', async () => {
    const page = await openReminders(await addAccount(), '?new=1');
    await form(page).getByRole('textbox', { name: 'Title' }).waitFor();
    await page.keyboard.press('Escape');
    await form(page).waitFor({ state: 'hidden' });
    expect(new URL(page.url()).search).toBe('');
  });

  it('by a quick choice is due when that says', async () => {
    const account = await addAccount();
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'New reminder' }).click();
    await form(page).getByRole('textbox', { name: 'Title' }).fill('Bring the keys');
    await form(page).getByRole('button', { name: 'Tomorrow, 8:00' }).click();
    await save(page);
    await page.getByRole('region', { name: 'Tomorrow' }).getByText('Bring the keys').waitFor();
  });

  it('at a time that the clock skips is not sent, and one that comes twice asks which', async () => {
    const account = await addAccount();
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'New reminder' }).click();
    await form(page).getByRole('textbox', { name: 'Title' }).fill('Change the clocks');
    const when = form(page).getByLabel(/^When\?/);
    await when.fill('2031-03-30T02:30');
    await form(page).getByText('This time does not exist').waitFor();
    await save(page);
    expect(await stateOf(account, 'open')).toEqual([]);
    await when.fill('2031-10-26T02:30');
    await form(page).getByRole('radio', { name: 'The second one (standard time)' }).check();
    await save(page);
    await form(page).waitFor({ state: 'hidden' });
    expect((await stateOf(account, 'open'))[0]?.dueAt).toBe('2031-10-26T01:30:00.000Z');
  });

  it('in the past is refused, and the form keeps everything', async () => {
    const account = await addAccount();
    allow('400 POST /reminders');
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'New reminder' }).click();
    await form(page).getByRole('textbox', { name: 'Title' }).fill('Too late');
    await form(page)
      .getByLabel(/^When\?/)
      .fill('2020-01-01T08:00');
    await save(page);
    await form(page).locator('[aria-invalid="true"]').waitFor();
    expect(await form(page).getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Too late');
    await expectAccessible(page);
  });

  it('is changed while it is not due', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'Water the plants' });
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'Edit “Water the plants”' }).click();
    await form(page).getByRole('textbox', { name: 'Title' }).fill('Water all plants');
    await save(page);
    await listed(page, 'Water all plants').waitFor();
    expect((await stateOf(account, 'open')).map(({ title }) => title)).toEqual(['Water all plants']);
  });

  it('that became due while it was edited says so', async () => {
    const account = await addAccount();
    const { id } = await make.reminder(account, { title: 'Water the plants' });
    allow(`409 PATCH /reminders/:id`);
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'Edit “Water the plants”' }).click();
    await form(page).getByRole('textbox', { name: 'Title' }).fill('Water all plants');
    await page.route(`**/reminders/${id}`, (route) =>
      route.fulfill({ status: 409, json: { statusCode: 409, code: 'REMINDER_DUE', message: 'It is due.' } }),
    );
    await save(page);
    await form(page).getByRole('alert').getByText('REMINDER_DUE').waitFor();
    expect(await form(page).getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Water all plants');
  });

  it('that is due is done, and stands in the list of those done', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'Feed the cat', dueAt: ago(5) });
    const page = await openReminders(account);
    await page.getByRole('region', { name: 'Due' }).getByText('Feed the cat').waitFor();
    await listed(page, 'Feed the cat').getByRole('button', { name: 'Done' }).click();
    await page.getByText('The reminder is done.').waitFor();
    await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Done' }).click();
    await listed(page, 'Feed the cat').waitFor();
    expect(new URL(page.url()).search).toBe('?state=done');
    expect((await stateOf(account, 'done')).length).toBe(1);
    // Whoever used the keyboard stands in the page, not at its beginning.
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
  });

  it('is snoozed by a choice of the menu and until a time that is entered', async () => {
    const account = await addAccount();
    for (const title of ['Feed the cat', 'Feed the dog']) await make.reminder(account, { title, dueAt: ago(5) });
    const page = await openReminders(account, '?state=due');
    const snooze = (title: string) => listed(page, title).getByRole('button', { name: 'Remind me later' }).click();
    await snooze('Feed the cat');
    await page.getByRole('menuitem', { name: 'In 1 hour' }).click();
    await page
      .getByText(/Due again:/)
      .first()
      .waitFor();
    await listed(page, 'Feed the cat').waitFor({ state: 'hidden' });
    await snooze('Feed the dog');
    await page.getByRole('menuitem', { name: 'Another time…' }).click();
    await form(page)
      .getByLabel(/^When\?/)
      .fill('2031-07-01T09:30');
    await form(page).getByRole('button', { name: 'Snooze' }).click();
    await page.getByText('Nothing is due').waitFor();
    expect((await stateOf(account, 'open')).map(({ title }) => title)).toEqual(['Feed the cat', 'Feed the dog']);
  });

  it('that was finished in another window says so when it is finished again', async () => {
    const account = await addAccount();
    const { id } = await make.reminder(account, { title: 'Feed the cat', dueAt: ago(5) });
    allow('409 POST /reminders/:id/snooze');
    const page = await openReminders(account);
    await portalOf(account).post('/reminders/{id}/done', { params: { path: { id } } });
    await listed(page, 'Feed the cat').getByRole('button', { name: 'Remind me later' }).click();
    await page.getByRole('menuitem', { name: 'In 10 minutes' }).click();
    await page.getByText('no longer due').waitFor();
    await listed(page, 'Feed the cat').waitFor({ state: 'hidden' });
  });

  it('is deleted after the message about it has passed, and not if the deletion is taken back', async () => {
    const account = await addAccount();
    for (const title of ['Water the plants', 'Feed the cat']) await make.reminder(account, { title });
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'Delete “Water the plants”' }).click();
    await listed(page, 'Water the plants').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await listed(page, 'Water the plants').waitFor();
    await page.getByRole('button', { name: 'Delete “Feed the cat”' }).click();
    await listed(page, 'Feed the cat').waitFor({ state: 'hidden' });
    // Leaving the page does not lose it.
    await page.goto('about:blank');
    await expect
      .poll(async () => (await stateOf(account, 'open')).map(({ title }) => title))
      .toEqual(['Water the plants']);
  });
});

describe.skipIf(!hasBrowser)('the list', () => {
  it('shows times of Berlin with the name of their zone, wherever the browser is', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'New Year', dueAt: new Date('2031-12-31T23:30:00Z') });
    const page = await openReminders(account);
    const time = listed(page, 'New Year').locator('time');
    expect(await time.textContent()).toContain('00:30');
    expect(await time.getAttribute('title')).toContain('Central European Standard Time');
    await page.getByRole('heading', { name: /1 January 2032/ }).waitFor();
  });

  it('holds hundreds of long reminders without a sideways scroll on a telephone', async () => {
    const account = await addAccount();
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => make.reminder(account, { title: `Reminder ${n} ${'long '.repeat(30)}` })),
    );
    const page = await openReminders(account, '', { width: 320, height: 640 });
    expect(await page.getByRole('listitem').count()).toBeGreaterThanOrEqual(300);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    ).toBe(true);
  });

  it('that cannot be read says why and can be tried again', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'Water the plants' });
    allow('500 GET /reminders');
    const page = await openPage('about:blank', { account });
    await page.route('**/reminders?*', (route) =>
      route.fulfill({
        status: 500,
        headers: { 'x-request-id': 'request-7' },
        json: { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong.' },
      }),
    );
    await page.goto('/app/reminders');
    await page.getByText('INTERNAL').waitFor();
    await page.getByText('request-7').waitFor();
    await expectAccessible(page);
    await page.unroute('**/reminders?*');
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).click();
    await listed(page, 'Water the plants').waitFor();
  });

  it('offers no mail where none can be sent, and says why', async () => {
    const page = await openReminders(await addAccount());
    await page.getByRole('button', { name: 'New reminder' }).click();
    const mail = form(page).getByRole('switch', { name: 'Also remind me by e-mail' });
    await form(page).getByText('An administrator has to set up a mail server').waitFor();
    expect(await mail.isDisabled()).toBe(true);
  });
});
