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

const add = (page: Page) => page.getByRole('button', { name: 'New reminder' }).click();
const title = (page: Page) => form(page).getByRole('textbox', { name: 'Title' });
const when = (page: Page) => form(page).getByLabel(/^When\?/);
const gone = { state: 'hidden' } as const;

describe.skipIf(!hasBrowser)('a reminder', () => {
  it('that is half written is not lost when its dialog is closed', async () => {
    const page = await drawn(await openPage('/app/me', { account: await addAccount() }));
    await page.getByRole('link', { name: 'Reminders' }).first().click();
    await add(page);
    const written = page.getByRole('dialog', { name: 'New reminder' });
    const question = page.getByRole('dialog', { name: 'Discard changes?' });
    const answer = (name: string) => question.getByRole('button', { name }).click();
    const note = written.getByRole('textbox', { name: 'Note' });
    const close = written.getByRole('button', { name: 'Close' });
    // What is as before needs no question.
    await note.fill('draft');
    await note.fill('');
    await close.click();
    await written.waitFor(gone);

    await add(page);
    await note.fill('Ask for a discount');
    await close.click();
    await question.getByText('There are changes that are not saved.').waitFor();
    await expectAccessible(page);
    await answer('Keep editing');
    // A browser closes a dialog by itself if Escape is pressed again and again.
    for (let times = 0; times < 7; times += 1) await page.keyboard.press('Escape');
    if (await question.isVisible()) await answer('Keep editing');
    expect(await note.inputValue()).toBe('Ask for a discount');
    // If that happens behind the question, the question stays in front.
    await close.click();
    await question.waitFor();
    await written.evaluate((form: HTMLDialogElement) => form.close());
    await answer('Keep editing');
    expect(await note.inputValue()).toBe('Ask for a discount');
    await page.goBack();
    await answer('Keep editing');
    expect(await note.inputValue()).toBe('Ask for a discount');
    await note.press('Escape');
    await answer('Discard');
    await written.waitFor(gone);
    await page.getByText('No open reminders').waitFor();
    // Cancel is an answer already.
    await add(page);
    await title(page).fill('Call back');
    await written.getByRole('button', { name: 'Cancel' }).click();
    await written.waitFor(gone);
    expect(await question.count()).toBe(0);
  });

  it('is made by the palette’s address, with a note and a time on the clock of Berlin, or by a quick choice', async () => {
    const account = await addAccount();
    const page = await openReminders(account, '?new=1');
    await title(page).waitFor();
    await page.keyboard.press('Escape');
    await form(page).waitFor(gone);
    expect(new URL(page.url()).search).toBe('');
    await page.getByText('No open reminders').waitFor();

    await add(page);
    await form(page).getByText('An administrator has to set up a mail server').waitFor();
    expect(await form(page).getByRole('switch', { name: 'Also remind me by e-mail' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await title(page).fill('Renew the contract');
    await form(page).getByRole('textbox', { name: 'Note' }).fill('Ask for\na discount');
    await when(page).fill('2031-07-01T09:30');
    await save(page);
    await listed(page, 'Renew the contract').waitFor();
    const [reminder] = await stateOf(account, 'open');
    // Summer time: two hours ahead of UTC.
    expect(reminder).toMatchObject({ note: 'Ask for\na discount', dueAt: '2031-07-01T07:30:00.000Z' });

    await add(page);
    await title(page).fill('Bring the keys');
    await form(page).getByRole('button', { name: 'Tomorrow, 8:00' }).click();
    await save(page);
    await page.getByRole('region', { name: 'Tomorrow' }).getByText('Bring the keys').waitFor();
    await expectAccessible(page);
  });

  it('at a time that the clock skips or that is past is not sent, and one that comes twice asks which', async () => {
    const account = await addAccount();
    allow('400 POST /reminders');
    const page = await openReminders(account);
    await add(page);
    await title(page).fill('Change the clocks');
    await when(page).fill('2031-03-30T02:30');
    await form(page).getByText('This time does not exist').waitFor();
    await save(page);
    expect(await stateOf(account, 'open')).toEqual([]);
    await when(page).fill('2020-01-01T08:00');
    await save(page);
    await form(page).locator('[aria-invalid="true"]').waitFor();
    expect(await title(page).inputValue()).toBe('Change the clocks');
    await expectAccessible(page);
    await when(page).fill('2031-10-26T02:30');
    await form(page).getByRole('radio', { name: 'The second one (standard time)' }).check();
    await save(page);
    await form(page).waitFor(gone);
    expect((await stateOf(account, 'open'))[0]?.dueAt).toBe('2031-10-26T01:30:00.000Z');
  });

  it('is changed while it is not due, and says so if it became due meanwhile', async () => {
    const account = await addAccount();
    const { id } = await make.reminder(account, { title: 'Water the plants' });
    allow(`409 PATCH /reminders/:id`);
    const page = await openReminders(account);
    await page.getByRole('button', { name: 'Edit “Water the plants”' }).click();
    await title(page).fill('Water all plants');
    await save(page);
    await listed(page, 'Water all plants').waitFor();
    expect((await stateOf(account, 'open')).map((reminder) => reminder.title)).toEqual(['Water all plants']);

    await page.route(`**/reminders/${id}`, (route) =>
      route.fulfill({ status: 409, json: { statusCode: 409, code: 'REMINDER_DUE', message: 'It is due.' } }),
    );
    await page.getByRole('button', { name: 'Edit “Water all plants”' }).click();
    await title(page).fill('Water no plants');
    await save(page);
    await form(page).getByRole('alert').getByText('REMINDER_DUE').waitFor();
    expect(await title(page).inputValue()).toBe('Water no plants');
  });

  it('that is due is snoozed by a choice of the menu or until a time that is entered, and done', async () => {
    const account = await addAccount();
    const animals = ['cat', 'dog', 'fish', 'horse'].map((animal) => `Feed the ${animal}`);
    const [cat = '', dog = '', fish = '', horse = ''] = animals;
    const made = await Promise.all(animals.map((animal) => make.reminder(account, { title: animal, dueAt: ago(5) })));
    allow('409 POST /reminders/:id/snooze');
    const page = await openReminders(account);
    const snooze = (animal: string) => listed(page, animal).getByRole('button', { name: 'Remind me later' }).click();
    await page.getByRole('region', { name: 'Due' }).getByText(cat).waitFor();

    // Another window has finished it.
    await portalOf(account).post('/reminders/{id}/done', { params: { path: { id: made[2]?.id ?? '' } } });
    await snooze(fish);
    await page.getByRole('menuitem', { name: 'In 10 minutes' }).click();
    await page.getByText('no longer due').waitFor();
    await listed(page, fish).waitFor(gone);

    await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Due' }).click();
    await snooze(cat);
    await page.getByRole('menuitem', { name: 'In 1 hour' }).click();
    await page
      .getByText(/Due again:/)
      .first()
      .waitFor();
    await listed(page, cat).waitFor(gone);
    await snooze(dog);
    await page.getByRole('menuitem', { name: 'Another time…' }).click();
    await when(page).fill('2031-07-01T09:30');
    await form(page).getByRole('button', { name: 'Snooze' }).click();
    await listed(page, dog).waitFor(gone);

    await listed(page, horse).getByRole('button', { name: 'Done' }).click();
    await page.getByText('The reminder is done.').waitFor();
    await page.getByText('Nothing is due').waitFor();
    await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Done' }).click();
    await listed(page, horse).waitFor();
    expect(new URL(page.url()).search).toBe('?state=done');
    // A person who used the keyboard stands in the page, not at its beginning.
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
    expect((await stateOf(account, 'open')).map((reminder) => reminder.title)).toEqual([cat, dog]);
    expect((await stateOf(account, 'done')).length).toBe(2);
  });

  it('is deleted after the message about it has passed, and not if the deletion is taken back, even in a dialog', async () => {
    const account = await addAccount();
    for (const name of ['Water the plants', 'Feed the cat']) await make.reminder(account, { title: name });
    const page = await openReminders(account);
    const remove = async (name: string) => {
      await page.getByRole('button', { name: `Delete “${name}”` }).click();
      await listed(page, name).waitFor(gone);
    };
    await remove('Water the plants');
    await page.getByRole('button', { name: 'Undo' }).click();
    await listed(page, 'Water the plants').waitFor();
    await remove('Water the plants');
    await add(page);
    await form(page).getByRole('button', { name: 'Undo' }).click();
    await page.keyboard.press('Escape');
    await form(page).waitFor(gone);
    await listed(page, 'Water the plants').waitFor();
    await remove('Feed the cat');
    // Leaving the page does not lose it.
    await page.goto('about:blank');
    await expect
      .poll(async () => (await stateOf(account, 'open')).map((reminder) => reminder.title))
      .toEqual(['Water the plants']);
  });
});

describe.skipIf(!hasBrowser)('the list', () => {
  it('that cannot be read says why and can be tried again, and shows times of Berlin with the name of their zone', async () => {
    const account = await addAccount();
    await make.reminder(account, { title: 'New Year', dueAt: new Date('2031-12-31T23:30:00Z') });
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
});
