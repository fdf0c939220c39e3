import type { Page } from 'playwright-core';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type CalendarServer, sendIcs, startCalendarServer } from '@portal/testing/servers/calendar-server';
import { fixturePath } from '@portal/testing/servers/tls';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const server = await startCalendarServer();
const { openPage, allow, accountFor, portalOf } = await servePages({
  env: { OUTBOUND_ALLOW_HOSTS: 'localhost', NODE_EXTRA_CA_CERTS: fixturePath('ca') },
});
afterAll(() => server.stop());

const addAccount = () => accountFor({ module: 'calendar', level: 'USE' });
type Account = Awaited<ReturnType<typeof addAccount>>;

const event = (title: string, start: string, end: string, more: string[] = []): string[] => [
  'BEGIN:VEVENT',
  `UID:${title}@example.org`,
  'DTSTAMP:20260101T000000Z',
  `SUMMARY:${title}`,
  `DTSTART${start}`,
  `DTEND${end}`,
  ...more,
  'END:VEVENT',
];
const timed = (title: string, day: string, from: string, to: string, more?: string[]) =>
  event(title, `;TZID=Europe/Berlin:202611${day}T${from}00`, `;TZID=Europe/Berlin:202611${day}T${to}00`, more);
const file = (...events: string[][]): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Portal//Tests//EN', ...events.flat(), 'END:VCALENDAR', ''].join('\r\n');

const team = file(
  timed('Jour fixe', '10', '0900', '1000', ['LOCATION:Room 2.14 https://meet.example.org/jf']),
  timed('Budget', '12', '0900', '1100'),
  timed('Interview', '12', '1000', '1130'),
  event('Trade fair', ';VALUE=DATE:20261112', ';VALUE=DATE:20261117'),
  ...['0800', '0900', '1000', '1100', '1200', '1300', '1400', '1500', '1600', '1700'].map((from, n) =>
    timed(`Slot ${n}`, '18', from, `${from.slice(0, 2)}30`),
  ),
  event('Night shift', ':20261025T003000Z', ':20261025T013000Z'),
);

const files: Record<string, string> = {
  '/team.ics': team,
  '/private.ics': file(timed('Dentist', '10', '1400', '1500')),
};
const usual: CalendarServer['answer'] = (request, response) => {
  const ics = files[request.path];
  if (ics === undefined) response.writeHead(404).end();
  else sendIcs(request, response, ics);
};
beforeEach(() => {
  server.answer = usual;
});

const addSource = (account: Account, path: string, more: object = {}) =>
  portalOf(account).post('/calendar/sources', {
    body: { name: path.slice(1, -4), kind: 'ics', url: server.origin + path, color: '#dc2626', ...more },
  });
const open = async (account: Account, query = '', look = {}) =>
  drawn(await openPage(`/app/calendar${query}`, { account, ...look }));
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const cell = (page: Page, name: string) => page.getByRole('gridcell', { name });
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const dialog = (page: Page) => page.getByRole('dialog').last();
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('data-day'));
const gone = { state: 'hidden' } as const;

describe.skipIf(!hasBrowser)('the calendar', () => {
  it('shows months: by keys from day to day and from page to page, and the details of an event', async () => {
    const account = await addAccount();
    await addSource(account, '/team.ics');
    await addSource(account, '/private.ics', { color: '#2563eb' });
    const page = await open(account, '?date=2026-11-10');
    await page.getByRole('heading', { name: 'November 2026' }).waitFor();
    await button(page, 'Jour fixe').waitFor();
    await expectAccessible(page);

    await cell(page, 'Tuesday, 10 November 2026, 2 events').focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('2026-11-11');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    expect(await focused(page)).toBe('2026-11-08');
    await page.keyboard.press('PageUp');
    await page.getByRole('heading', { name: 'October 2026' }).waitFor();
    await cell(page, 'Thursday, 8 October 2026, no events').and(page.locator(':focus')).waitFor();
    expect(new URL(page.url()).searchParams.get('date')).toBe('2026-10-08');
    await page.keyboard.press('PageDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('2026-11-17');
    for (let n = 0; n < 4; n += 1) await page.keyboard.press('ArrowLeft');
    // The fair is the only event, so Enter shows it at once.
    expect(await focused(page)).toBe('2026-11-13');
    await page.keyboard.press('Enter');
    await dialog(page)
      .getByText(/Thursday 12 November\s–\sMonday 16 November 2026/)
      .waitFor();
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('2026-11-13');

    await button(page, 'Jour fixe').click();
    await dialog(page).getByText('Tuesday, 10 November 2026, 09:00–10:00').waitFor();
    await dialog(page).getByText('team', { exact: true }).waitFor();
    const link = dialog(page).getByRole('link', { name: 'https://meet.example.org/jf' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    await expectAccessible(page);
    await page.keyboard.press('Escape');

    await button(page, /more events on Wednesday, 18 November 2026/).click();
    await dialog(page)
      .getByRole('button', { name: /Slot 9/ })
      .click();
    await dialog(page).getByText('17:00–17:30').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).getByRole('heading', { name: 'Wednesday, 18 November 2026' }).waitFor();
    await dialog(page).getByRole('link', { name: 'Show this day in its week' }).click();
    await page.getByRole('heading', { name: /^Week 47/ }).waitFor();
    await dialog(page).waitFor(gone);
    await page.goBack();

    await page.getByRole('group', { name: 'Show and hide calendars' }).getByRole('button', { name: 'team' }).click();
    await button(page, 'Jour fixe').waitFor(gone);
    await button(page, 'Dentist').waitFor();
    await page.reload();
    await button(page, 'Dentist').waitFor();
    expect(await button(page, 'Jour fixe').count()).toBe(0);
  });

  it('shows weeks by the hour with events side by side, also on the day of a clock change, and an agenda', async () => {
    const account = await addAccount();
    await addSource(account, '/team.ics');
    const page = await open(account, '?view=week&date=2026-11-12');
    await page.getByRole('heading', { name: /^Week 46 · 9\s–\s15 November 2026/ }).waitFor();
    const [budget, interview] = await Promise.all(
      ['Budget', 'Interview'].map(async (name) => (await button(page, name).boundingBox()) ?? { x: 0, y: 0, width: 0 }),
    );
    expect(interview?.x).toBeGreaterThan((budget?.x ?? 0) + (budget?.width ?? 0) - 2);
    expect(interview?.y).toBeGreaterThan(budget?.y ?? 0);
    await button(page, 'Trade fair').waitFor();
    await expectAccessible(page);
    await button(page, 'Thursday, 12 November 2026, 3 events').focus();
    await page.keyboard.press('ArrowLeft');
    expect(await focused(page)).toBe('2026-11-11');
    await page.keyboard.press('PageDown');
    await page.getByRole('heading', { name: /^Week 47/ }).waitFor();

    await page.goto('/app/calendar?view=week&date=2026-10-25');
    await page.getByText('Clock −1 h').waitFor();
    await button(page, 'Night shift').press('Enter');
    await dialog(page)
      .getByText(/02:30 \(Central European Summer Time\)–02:30 \(Central European Standard Time\)/)
      .waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Agenda' }).click();
    await page.getByRole('region', { name: 'Tuesday, 10 November 2026' }).getByText('09:00–10:00').waitFor();
    await expectAccessible(page);
    // Rubbish in the address is today.
    await page.goto('/app/calendar?view=list&date=2026-02-31');
    await page.locator('td[aria-current="date"]').waitFor();
  });

  it('draws of thousands of events those that have room, and more on demand', async () => {
    const account = await addAccount();
    files['/crowd.ics'] = file(
      ...Array.from({ length: 5_000 }, (_, n) => {
        const hour = String(8 + (n % 10)).padStart(2, '0');
        return n % 5 === 0
          ? event(`Fair ${n}`, ';VALUE=DATE:20261111', ';VALUE=DATE:20261114')
          : timed(`Call ${n}`, '12', `${hour}00`, `${hour}45`);
      }),
    );
    await addSource(account, '/crowd.ics');
    const page = await open(account, '?view=week&date=2026-11-12');
    const chips = page.getByRole('button', { name: /(?:Fair|Call) \d/ });
    await chips.first().waitFor();
    expect(await chips.count()).toBeLessThan(100);
    await expectAccessible(page);
    await button(page, /more events on Thursday, 12 November 2026/).click();
    await dialog(page).getByRole('button', { name: 'Show 1,800 more events' }).click();
    await dialog(page).getByRole('button', { name: 'Show 1,600 more events' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Agenda' }).click();
    await chips.first().waitFor();
    expect(await chips.count()).toBe(200);
    await button(page, /^Show [\d,]+ more events$/).click();
    await expect.poll(() => chips.count()).toBe(400);
  });

  it('has dots and the events of the chosen day on a phone', async () => {
    const account = await addAccount();
    await addSource(account, '/team.ics');
    const page = await open(account, '?date=2026-11-10', { width: 360, height: 740 });
    await page.getByRole('region', { name: 'Tuesday, 10 November 2026' }).getByText('Jour fixe').waitFor();
    await cell(page, 'Thursday, 12 November 2026, 3 events').click();
    const day = page.getByRole('region', { name: 'Thursday, 12 November 2026' });
    await day.getByText('Interview').waitFor();
    await expectAccessible(page);
    await page.goto('/app/calendar?view=week&date=2026-11-12');
    await day.getByText('Interview').waitFor();
    await expectAccessible(page);
  });

  it('says which calendar failed and what to do, and keeps the others', async () => {
    const account = await addAccount();
    await addSource(account, '/team.ics');
    await addSource(account, '/missing.ics');
    await addSource(account, '/bad.ics');
    files['/bad.ics'] = team.replace('DTEND;TZID=Europe/Berlin:20261110T100000', 'DTEND:soon');
    const page = await open(account, '?date=2026-11-10');
    await button(page, 'Jour fixe').first().waitFor();
    await page.getByText('There is no calendar at the address any more').waitFor();
    await page.getByText('1 line unreadable, the rest is shown.').waitFor();
    await page.getByText('Which lines?').click();
    await page.getByText(/The event has the default length/).waitFor();
    await page.getByRole('link', { name: 'Check the source' }).first().click();
    await dialog(page).getByRole('heading', { name: 'Edit calendar' }).waitFor();
  });
});

describe.skipIf(!hasBrowser)('a calendar source', () => {
  it('is tested, added, changed, switched off and deleted; what is refused stays typed', async () => {
    const account = await addAccount();
    allow('400 POST /calendar/sources', '400 POST /calendar/sources/test');
    const page = await open(account);
    await page.getByText('No calendar added yet').waitFor();
    await page.getByRole('link', { name: 'Manage sources' }).click();
    await field(page, 'Address of the calendar').fill('http://not-safe');
    await field(page, 'Address of the calendar').press('Enter');
    await page.locator('input[name="url"][aria-invalid="true"]').waitFor();
    expect(await field(page, 'Address of the calendar').inputValue()).toBe('http://not-safe');
    await field(page, 'Address of the calendar').fill(`${server.origin}/missing.ics`);
    await button(page, 'Test').click();
    await dialog(page).getByText('There is no calendar at this address.').waitFor();
    await expectAccessible(page);
    await field(page, 'Address of the calendar').fill(`${server.origin}/team.ics`);
    await dialog(page).getByText('There is no calendar at this address.').waitFor(gone);
    await button(page, 'Test').click();
    await dialog(page).getByText('The calendar can be read.').waitFor();
    await field(page, 'Name').fill('Team');
    await button(page, 'Save').click();
    await page.getByText('The calendar is added.').waitFor();

    await row(page, 'Team').getByRole('button', { name: 'Test “Team”' }).click();
    await row(page, 'Team').getByText('The calendar can be read.').waitFor();
    await expectAccessible(page);
    await button(page, 'Edit “Team”').press('Enter');
    await page.getByText('Only the server is shown.').waitFor();
    await field(page, 'Name').fill('Team North');
    await button(page, 'Save').click();
    await row(page, 'Team North').waitFor();
    await page.getByRole('switch', { name: 'Show “Team North”' }).uncheck();
    await expect.poll(() => portalOf(account).get('/calendar/sources')).toMatchObject([{ isActive: false }]);
    await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Month' }).click();
    await page.getByText('All calendars are switched off').waitFor();
    await page.goBack();
    await button(page, 'Delete “Team North”').click();
    await dialog(page).getByText('“Team North” is removed from the portal').waitFor();
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No calendar added yet').waitFor();
    expect(await portalOf(account).get('/calendar/sources')).toEqual([]);
  });

  it('on a server is found with its calendars, of which several are added at once', async () => {
    const account = await addAccount();
    server.answer = davServer;
    const page = await open(account, '?view=sources&new=1');
    await page.getByRole('radio', { name: 'Calendar server (CalDAV)' }).check();
    await field(page, 'Address of the server or calendar').fill(server.origin);
    await field(page, 'Username').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await button(page, 'Test').click();
    await dialog(page).getByText('The server refuses the sign-in.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill('calendar-secret');
    await button(page, 'Test').click();
    await dialog(page).getByText('2 calendars found.').waitFor();
    await page.getByRole('checkbox', { name: 'Work' }).check();
    await page.getByRole('checkbox', { name: 'Family' }).check();
    await expectAccessible(page);
    await button(page, 'Save').click();
    await page.getByText('2 calendars are added.').waitFor();
    const added = await portalOf(account).get('/calendar/sources');
    expect(added.map(({ name, hasPassword }) => [name, hasPassword])).toEqual([
      ['Work', true],
      ['Family', true],
    ]);
    expect(new Set(added.map(({ color }) => color)).size).toBe(2);
    await button(page, 'Edit “Work”').click();
    await dialog(page).getByText('Stored', { exact: true }).waitFor();
  });
});

const calendarAt = (path: string, name: string) =>
  `<d:response><d:href>${path}</d:href><d:propstat><d:prop><d:resourcetype><d:collection/><c:calendar/></d:resourcetype><d:displayname>${name}</d:displayname></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;

/** A calendar server that lists two calendars to those who sign in. */
const davServer: CalendarServer['answer'] = ({ method, path, headers }, response) => {
  const signIn = `Basic ${Buffer.from('ada:calendar-secret').toString('base64')}`;
  if (headers.authorization !== signIn) return void response.writeHead(401).end();
  const properties: Record<string, string> = {
    'PROPFIND / 0': saying('/', '<d:current-user-principal><d:href>/ada/</d:href></d:current-user-principal>'),
    'PROPFIND /ada/ 0': saying('/ada/', '<c:calendar-home-set><d:href>/home/</d:href></c:calendar-home-set>'),
    'PROPFIND /home/ 1': calendarAt('/home/work/', 'Work') + calendarAt('/home/family/', 'Family'),
  };
  const body = properties[`${method} ${path} ${String(headers['depth'])}`];
  if (body === undefined) return void response.writeHead(404).end();
  response
    .writeHead(207, { 'content-type': 'application/xml; charset=utf-8' })
    .end(
      `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">${body}</d:multistatus>`,
    );
};

const saying = (path: string, property: string) =>
  `<d:response><d:href>${path}</d:href><d:propstat><d:prop>${property}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
