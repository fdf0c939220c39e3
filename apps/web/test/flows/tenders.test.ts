import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { noticeRecord } from '@portal/testing/tender-notices';
import { expectAccessible } from '../accessible.ts';
import { hasBrowser } from '../chromium.ts';
import { drawn } from '../drawn.ts';
import { servePages } from '../serve-pages.ts';

const { openPage, allow, accountFor, portalOf, addTenders } = await servePages();

type Account = Awaited<ReturnType<typeof accountFor>>;

const dayMs = 86_400_000;
const user = () => accountFor({ module: 'tender-radar', level: 'USE' });
const open = async (path: string, account: Account, look = {}) => drawn(await openPage(path, { account, ...look }));
const due = (days: number) => [
  {
    kind: 'tender' as const,
    lotId: null,
    at: new Date(Date.now() + days * dayMs).toISOString(),
    isDateOnly: false,
  },
];
/** A notice with a key of its title: a second try of a test stores the same one again, not another one beside it. */
const notice = (fields: Partial<NoticeRecord> & { title: string }): NoticeRecord =>
  noticeRecord({ noticeUuid: null, noticeKey: encodeURIComponent(fields.title), ...fields });
const searchBox = (page: Page) => page.getByRole('searchbox', { name: 'Search tenders' });
const rowOf = (page: Page, title: string) => page.getByRole('row').filter({ hasText: title });
const link = (page: Page, title: string) => page.getByRole('link', { name: title, exact: true });
const chip = (page: Page, label: string) => page.getByRole('button', { name: `Remove filter: ${label}` });
const dialog = (page: Page) => page.getByRole('dialog');
const alertSwitch = (page: Page) => dialog(page).getByRole('switch', { name: 'Report new matches at once' });
const gone = { state: 'hidden' } as const;
const callsTo = (page: Page) => {
  const calls: string[] = [];
  page.on('request', (request: Request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/tenders') || pathname.startsWith('/rss')) calls.push(`${request.method()} ${pathname}`);
  });
  return calls;
};

describe.skipIf(!hasBrowser)('the list of tenders', () => {
  it('is narrowed by words, check boxes and periods, which the address and the chips show', async () => {
    const account = await user();
    await addTenders([
      notice({ title: 'Brückenbau Nord', bundeslaender: ['NW'], cpvCodes: ['45221000'], deadlines: due(2) }),
      notice({ title: 'Brückenbau Süd', bundeslaender: ['BY'], cpvCodes: ['45221000'], deadlines: due(20) }),
      notice({
        title: 'Brückenprüfung',
        bundeslaender: ['BY'],
        cpvCodes: ['71631450'],
        valueCents: 1_234_500,
        currency: 'EUR',
      }),
    ]);
    const page = await openPage('about:blank', { account });
    const calls = callsTo(page);
    await page.goto('/app/tenders?q=brücken*');
    await drawn(page);
    // The list, then what is counted beside it; nothing else.
    expect(calls).toEqual(['GET /tenders', 'GET /tenders/facets']);
    await page.getByText('3 matches', { exact: true }).first().waitFor();
    await rowOf(page, 'Brückenbau Nord').getByText('2 days left').waitFor();
    await rowOf(page, 'Brückenprüfung').getByText('12,345 €').waitFor();
    await expectAccessible(page);

    await page.getByRole('checkbox', { name: /^Bavaria 2?\(?.*2 matches/ }).check();
    await rowOf(page, 'Brückenbau Nord').waitFor(gone);
    await page.getByRole('checkbox', { name: /^45 Construction work/ }).check();
    await rowOf(page, 'Brückenprüfung').waitFor(gone);
    await rowOf(page, 'Brückenbau Süd').waitFor();
    expect(new URL(page.url()).searchParams.toString()).toBe('q=br%C3%BCcken*&bundesland=BY&cpv=45');
    await page.reload();
    await rowOf(page, 'Brückenbau Süd').waitFor();
    await chip(page, 'Bavaria').click();
    await rowOf(page, 'Brückenbau Nord').waitFor();
    // The keyboard stays with the chips.
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('LI');
    await page.getByRole('combobox', { name: 'Deadline' }).selectOption('Ends within 3 days');
    await rowOf(page, 'Brückenbau Süd').waitFor(gone);
    await page.getByRole('button', { name: 'Remove all filters' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expect(await searchBox(page).inputValue()).toBe('');

    await searchBox(page).fill('Zugspitzbahnkabel');
    await page.getByText('No tender found').waitFor();
    await searchBox(page).fill(Array.from({ length: 21 }, (_, n) => `word${n}`).join(' '));
    await page.getByText('At most 20 words').waitFor();
    await expectAccessible(page);
  });

  it('shows titles of strangers as text, and leads to their source only by https', async () => {
    const account = await user();
    const title = `<img src=x onerror=alert(1)> Gerüstprobe {{7*7}} \u202Eabc\u202C ${'Ü'.repeat(300)}`;
    const [bad = '', good = ''] = await addTenders([
      noticeRecord({ title, sourceUrl: 'javascript:alert(1)', documentsUrl: 'http://plain.example/' }),
      noticeRecord({ title: 'Gerüstprobe zwei', sourceUrl: 'https://source.example/two' }),
    ]);
    const page = await open('/app/tenders?q=gerüstprobe', account, { width: 320, height: 640 });
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`/app/tenders/${bad}`);
    await page.getByText('http://plain.example/').waitFor();
    expect(await page.locator('main a[target]').count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`/app/tenders/${good}`);
    const out = page.getByRole('link', { name: 'Open the notice' });
    expect([await out.getAttribute('href'), await out.getAttribute('rel')]).toEqual([
      'https://source.example/two',
      'noopener noreferrer',
    ]);
    allow('404 GET /tenders/nonsense');
    await page.goto('/app/tenders/nonsense');
    await page.getByText('There is no such tender').waitFor();
  });

  it('is read by keyboard: arrows, U, F and Enter, and leads back to the same place', async () => {
    const account = await user();
    const titles = ['Eins', 'Zwei', 'Drei'].map((word) => `Tastenprobe ${word}`);
    await addTenders(
      titles.map((title, n) => notice({ title, publishedAt: new Date(Date.now() - n * dayMs).toISOString() })),
    );
    const [one = '', two = '', three = ''] = titles;
    const list = () => portalOf(account).get('/tenders', { params: { query: { q: 'tastenprobe' } } });
    const triage = async () => Object.fromEntries((await list()).map((tender) => [tender.title, tender.triage]));
    const page = await open('/app/tenders?q=tastenprobe', account);
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.getByText('read / unread').waitFor();
    // Outside of a result the letters do nothing.
    await page.keyboard.press('u');
    await link(page, one).focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused).toBe(two);
    await page.keyboard.press('f');
    await page.getByRole('button', { name: `Favorite: ${two}`, pressed: true }).waitFor();
    await page.keyboard.press('u');
    await rowOf(page, two).getByText('Unread').waitFor(gone);
    await expect.poll(triage).toMatchObject({
      [one]: { read: false, favorite: false },
      [two]: { read: true, favorite: true },
    });
    await page.keyboard.press('End');
    await expect.poll(focused).toBe(three);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: three }).waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByRole('heading', { level: 1, name: two }).waitFor();
    await page.getByRole('button', { name: 'Mark as unread' }).click();
    await page.getByRole('button', { name: 'Mark as read' }).waitFor();
    await page.getByRole('link', { name: 'Back to the list' }).click();
    await expect.poll(focused).toBe(two);
    await expect.poll(triage).toMatchObject({ [two]: { read: false, favorite: true }, [three]: { read: true } });

    await page.getByRole('button', { name: 'Mark 2 shown as read' }).click();
    await expect.poll(async () => Object.values(await triage()).every(({ read }) => read)).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect
      .poll(triage)
      .toMatchObject({ [one]: { read: false }, [two]: { read: false }, [three]: { read: true } });
    await page.getByRole('checkbox', { name: 'Favorites only' }).check();
    await link(page, one).waitFor(gone);
    await link(page, two).waitFor();
  });

  it('takes a mark back that was not saved', async () => {
    const account = await user();
    await addTenders([notice({ title: 'Markierungsprobe' })]);
    const page = await open('/app/tenders?q=markierungsprobe', account);
    allow('500 POST /tenders/triage');
    await page.route('**/tenders/triage', (route) =>
      route.fulfill({ status: 500, json: { statusCode: 500, code: 'INTERNAL', message: 'Something went wrong.' } }),
    );
    await page.getByRole('button', { name: 'Favorite: Markierungsprobe' }).click();
    await page.getByText('The mark was not saved').waitFor();
    await page.getByRole('button', { name: 'Favorite: Markierungsprobe', pressed: false }).waitFor();
  });

  it('of hundreds reads on before its end and draws only what is near', async () => {
    const account = await user();
    await addTenders(
      Array.from({ length: 260 }, (_, n) =>
        notice({
          title: `Seitenprobe ${n}`,
          publishedAt: new Date(Date.UTC(2026, 9, 1) - n * 3_600_000).toISOString(),
        }),
      ),
    );
    const page = await openPage('about:blank', { account });
    const calls = callsTo(page);
    await page.goto('/app/tenders?q=seitenprobe');
    await drawn(page);
    await page.getByText('260 matches').first().waitFor();
    await link(page, 'Seitenprobe 0').focus();
    for (let presses = 0; presses < 6; presses += 1) {
      await page.keyboard.press('End');
      await page.waitForFunction(() => document.activeElement?.hasAttribute('data-result'));
      if ((await page.evaluate(() => document.activeElement?.textContent)) === 'Seitenprobe 259') break;
      await drawn(page);
    }
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Seitenprobe 259');
    expect(calls.filter((call) => call === 'GET /tenders').length).toBe(3);
    expect(await page.getByRole('row').count()).toBeLessThan(200);
    await page.keyboard.press('Home');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Seitenprobe 0');
  });

  it('shows its deadlines as a calendar, and the rest of a day in the list', async () => {
    const account = await user();
    const at = '2031-05-14T10:00:00.000Z';
    await addTenders(
      Array.from({ length: 5 }, (_, n) =>
        notice({
          title: `Kalenderprobe ${n}`,
          deadlines: [{ kind: 'tender', lotId: null, at, isDateOnly: false }],
        }),
      ),
    );
    const page = await open('/app/tenders?q=kalenderprobe&view=calendar&month=2031-05', account);
    const cell = page.getByRole('table', { name: 'Deadlines in May 2031' }).getByRole('cell').filter({ hasText: '14' });
    expect(await cell.getByRole('link').count()).toBe(4);
    await expectAccessible(page);
    await page.setViewportSize({ width: 320, height: 640 });
    await expectAccessible(page);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('link', { name: 'Next month' }).click();
    await page.getByText('No deadline ends in this month.').waitFor();
    await page.getByRole('link', { name: 'Previous month' }).click();
    await cell.getByRole('link', { name: /^2 more on/ }).click();
    await page.getByText('5 matches').first().waitFor();
  });
});

describe.skipIf(!hasBrowser)('a saved search', () => {
  it('is made of the list with a preview, refuses a name twice and a search that says nothing', async () => {
    const account = await user();
    const saved = () => portalOf(account).get('/tenders/saved-searches');
    await addTenders(
      Array.from({ length: 6 }, (_, n) => notice({ title: `Suchprobe ${n}`, publishedAt: new Date().toISOString() })),
    );
    const page = await open('/app/tenders', account);
    const save = () => page.getByRole('button', { name: 'Save search' }).click();
    await save();
    await dialog(page).getByText('Set at least one filter first').waitFor();
    expect(await alertSwitch(page).isDisabled()).toBe(true);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor(gone);

    await searchBox(page).fill('suchprobe');
    await page.getByText('6 matches').first().waitFor();
    await page.getByRole('checkbox', { name: 'Unread only' }).check();
    await save();
    await dialog(page).getByText('6 matches now').waitFor();
    expect(await dialog(page).getByRole('group', { name: 'Preview' }).getByRole('listitem').count()).toBe(5);
    await dialog(page).getByText('“Unread only” is not saved.').waitFor();
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('My search');
    await alertSwitch(page).check();
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).waitFor(gone);
    expect(await saved()).toMatchObject([
      { name: 'My search', instantAlert: true, filters: { text: { all: ['suchprobe'] } }, matchCount: 6, newCount: 6 },
    ]);

    allow('409 POST /tenders/saved-searches', '400 POST /tenders/saved-searches');
    await save();
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('MY SEARCH');
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).getByText('You already have a search with this name').waitFor();
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Other');
    await dialog(page).getByText('Adjust the filters').click();
    await dialog(page).getByRole('textbox', { name: 'All of these words' }).fill('der, die');
    await dialog(page).getByText('These words cannot be searched').first().waitFor();
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).locator('[aria-invalid="true"]').first().waitFor();
    expect(await dialog(page).getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Other');
    await expectAccessible(page);
    expect((await saved()).length).toBe(1);
  });

  it('is opened, renamed, changed, switched and deleted', async () => {
    const account = await user();
    await addTenders([notice({ title: 'Verwaltungsprobe', publishedAt: new Date().toISOString() })]);
    const post = (name: string, filters: object) =>
      portalOf(account).post('/tenders/saved-searches', { body: { name, filters } });
    const saved = () => portalOf(account).get('/tenders/saved-searches');
    const kept = { text: { all: ['verwaltungsprobe'] }, region: { nuts: ['DEA2'] }, value: { max: 500 } };
    await post('Narrow', kept);
    await post('Everything', {});
    const page = await open('/app/tenders/searches', account);
    const switchOf = (name: string) => page.getByRole('switch', { name: `Report at once: ${name}` });
    expect(await switchOf('Everything').isDisabled()).toBe(true);
    await expectAccessible(page);
    await switchOf('Narrow').click();
    await expect.poll(async () => (await saved()).find(({ name }) => name === 'Narrow')?.instantAlert).toBe(true);

    await page.getByRole('button', { name: 'Edit “Narrow”' }).click();
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill('Narrower');
    await dialog(page).getByRole('checkbox', { name: 'Bavaria' }).check();
    await expectAccessible(page);
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).waitFor(gone);
    expect((await saved()).find(({ name }) => name === 'Narrower')).toMatchObject({
      instantAlert: true,
      filters: {
        text: { all: ['verwaltungsprobe'] },
        region: { laender: ['BY'], nuts: ['DEA2'] },
        value: { max: 500 },
      },
    });

    await page.getByRole('link', { name: /1 unread match: Narrower/ }).click();
    await link(page, 'Verwaltungsprobe').waitFor();
    await chip(page, 'Search: Narrower').waitFor();
    await page.getByRole('link', { name: 'Edit the saved search' }).click();
    await dialog(page).getByRole('textbox', { name: 'Name' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Delete “Everything”' }).click();
    await dialog(page).getByText('tiles with it show all tenders').waitFor();
    await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click();
    await rowOf(page, 'Everything').waitFor(gone);
    expect((await saved()).map(({ name }) => name)).toEqual(['Narrower']);
  });
});
