import { eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { moduleGrants } from '@portal/db/schema/modules';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { newId } from '@portal/domain/ids';
import { testConfig } from '@portal/testing/runtime';
import { noticeRecord } from '@portal/testing/tender-notices';
import { matchNewTenders } from '@portal/usecases/tenders/alerts/match-tenders';
import { unsubscribeUrl } from '@portal/usecases/tenders/alerts/unsubscribe';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { testApp } from '../../testing/app.ts';

const { request, make, runtime, config } = await testApp();
const system = runtime.system({ requestId: 'test', ip: null, userAgent: null });
const across = runtime.database.acrossTenants;
async function person() {
  const user = await make.user();
  await across('a test grants', (tx) =>
    tx
      .insert(moduleGrants)
      .values({ id: newId(), tenantId: user.tenantId, userId: user.id, moduleKey: 'tender-radar', level: 'USE' }),
  );
  return user;
}
const user = await person();
const get = (url: string, as = user) => request({ url, as });
const send = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object, as = user) =>
  request({ method, url, as, ...(payload && { payload }) });
const searches = '/tenders/saved-searches';

describe('saved searches', () => {
  it('return the documented answers', async () => {
    const owner = await person();
    const filters = { text: { any: ['ammoniten'] } };
    const made = await send('POST', searches, { name: 'Steine', filters }, owner);
    const { id } = made.json<{ id: string }>();
    const shown = {
      id,
      name: 'Steine',
      filters: {
        version: 1,
        text: { all: [], any: ['ammoniten'], phrases: [], none: [], contains: [] },
        combine: 'all',
        includeRss: true,
      },
      instantAlert: false,
      matchCount: 0,
      newCount: 0,
    };
    expect([made.statusCode, made.json()]).toEqual([201, shown]);
    const records = [
      noticeRecord({ title: 'Ammoniten', bundeslaender: ['BY'] }),
      noticeRecord({ title: 'Ammoniten und Belemniten' }),
      noticeRecord({ title: 'Ammoniten, vergeben', form: 'result' }),
    ];
    await storeNotices(system, records);
    await matchNewTenders(system, new AbortController().signal);
    expect((await get(searches, owner)).json()).toEqual([{ ...shown, matchCount: 2, newCount: 2 }]);
    const titles = async (query: string) =>
      (await get(`/tenders?savedSearchId=${id}${query}`, owner))
        .json<{ title: string }[]>()
        .map(({ title }) => title)
        .toSorted();
    expect(await titles('')).toEqual(['Ammoniten', 'Ammoniten und Belemniten']);
    expect(await titles('&q=belemniten')).toEqual(['Ammoniten und Belemniten']);
    expect(await titles('&bundesland=BY')).toEqual(['Ammoniten']);
    const facets = await get(`/tenders/facets?savedSearchId=${id}`, owner);
    expect(facets.json()).toMatchObject({
      bundeslaender: [
        { key: 'BY', count: 1 },
        { key: 'NW', count: 1 },
      ],
    });
    const preview = await send('POST', `${searches}/preview`, { filters }, owner);
    expect([preview.statusCode, preview.json()]).toMatchObject([200, { count: 2, items: [{}, {}] }]);
    const changed = await send('PATCH', `${searches}/${id}`, { instantAlert: true }, owner);
    expect([changed.statusCode, changed.json()]).toMatchObject([
      200,
      { instantAlert: true, name: 'Steine', matchCount: 2 },
    ]);
    const results = await send('PATCH', `${searches}/${id}`, { filters: { ...filters, kinds: ['result'] } }, owner);
    expect(results.json()).toMatchObject({ matchCount: 1, instantAlert: true });
    expect(await titles('')).toEqual(['Ammoniten, vergeben']);
    const gone = await send('DELETE', `${searches}/${id}`, undefined, owner);
    expect([gone.statusCode, gone.body]).toEqual([204, '']);
    expect((await get(searches, owner)).json()).toEqual([]);
  });

  it.each([
    ['an unknown key', { extra: 1 }, 'filters'],
    ['a word of one letter', { text: { all: ['x'] } }, 'filters.text.all.0'],
    ['ten thousand words', { text: { all: Array.from({ length: 10_000 }, () => 'wort') } }, 'filters.text.all'],
    ['a word of 61 letters', { text: { none: ['x'.repeat(61)] } }, 'filters.text.none.0'],
    ['an unknown list', { text: { contained: [] } }, 'filters.text'],
    ['another version', { version: 2 }, 'filters.version'],
    ['an unknown Land', { region: { laender: ['XX'] } }, 'filters.region.laender.0'],
    ['an unknown kind', { kinds: ['unheard-of'] }, 'filters.kinds.0'],
    ['null', null, 'filters'],
    ['a list', [], 'filters'],
  ])('refuse filters with %s', { timeout: 20_000 }, async (_, filters, path) => {
    for (const url of [searches, `${searches}/preview`]) {
      const answer = await send('POST', url, { name: 'Schlecht', filters });
      expect(answer.json()).toMatchObject({ statusCode: 400, details: [{ path }] });
    }
  });

  it('accept text that looks like code', async () => {
    const raw = '{"name":"Roh","filters":{"text":{"all":["a & !b | c <-> d:*"],"__proto__":{"none":["x"]}}}}';
    const headers = { 'content-type': 'application/json' };
    const made = await request({ method: 'POST', url: searches, as: user, headers, payload: raw });
    expect([made.statusCode, made.json()]).toMatchObject([201, { filters: { text: { none: [] } } }]);
  });

  it('answer conflicts, and answer 404 for those of other accounts', async () => {
    const filters = { text: { all: ['irgendwas'] } };
    const { id } = (await send('POST', searches, { name: 'Doppelt', filters })).json<{ id: string }>();
    expect((await send('POST', searches, { name: 'doppelt', filters })).json()).toMatchObject({
      statusCode: 409,
      code: 'NAME_TAKEN',
    });
    const stranger = await person();
    const missing = (await get(`/tenders?savedSearchId=${newId()}`)).json();
    expect(missing).toMatchObject({ statusCode: 404 });
    expect((await get(`/tenders?savedSearchId=${id}`, stranger)).json()).toEqual(missing);
    expect((await get(`/tenders/facets?savedSearchId=${id}`, stranger)).json()).toEqual(missing);
    for (const answer of [
      await send('PATCH', `${searches}/${id}`, { name: 'x' }, stranger),
      await send('DELETE', `${searches}/${id}`, undefined, stranger),
      await send('DELETE', `${searches}/nonsense`),
    ])
      expect(answer.json()).toEqual(missing);
  });

  it('refuse an instant alert without filters', async () => {
    const answer = await send('POST', searches, { name: 'Alles', filters: {}, instantAlert: true });
    expect(answer.json()).toMatchObject({ statusCode: 400, details: [{ path: 'instantAlert' }] });
  });
});

describe('the preference', () => {
  const url = '/tenders/notification-preference';
  it('is daily by default', async () => {
    const other = await person();
    expect((await get(url, other)).json()).toEqual({ digest: 'daily' });
    const set = await send('PUT', url, { digest: 'weekly' }, other);
    expect([set.statusCode, set.json()]).toEqual([200, { digest: 'weekly' }]);
    expect((await get(url, other)).json()).toEqual({ digest: 'weekly' });
    expect((await send('PUT', url, { digest: 'hourly' }, other)).statusCode).toBe(400);
    expect((await send('PUT', url, {}, other)).statusCode).toBe(400);
  });
});

describe('unsubscribing', () => {
  const pathFor = (account: { id: string; tenantId: string }, kind: 'digest' | 'instant') =>
    new URL(unsubscribeUrl(config, { tenantId: account.tenantId, userId: account.id, kind })).pathname;
  const digestOf = async (account: typeof user) =>
    (await get('/tenders/notification-preference', account)).json<{ digest: string }>().digest;

  it('shows a page with a button, without changing anything', async () => {
    const reader = await person();
    const page = await request({ url: pathFor(reader, 'digest') });
    expect(page.statusCode).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    expect(page.headers['content-security-policy']).toContain("form-action 'self'");
    expect(page.headers['content-security-policy']).not.toContain('unsafe');
    expect(page.body).toContain('<html lang="de">');
    expect(page.body).toMatch(/<form method="post"><button/);
    expect(await digestOf(reader)).toBe('daily');
    expect((await request({ method: 'HEAD', url: pathFor(reader, 'digest') })).statusCode).toBe(200);
    expect(await digestOf(reader)).toBe('daily');
  });

  const boundary = 'xx';
  const form = 'List-Unsubscribe=One-Click';
  it.each([
    ['a mail provider', { 'content-type': 'application/x-www-form-urlencoded' }, form],
    [
      'a mail provider, as multipart',
      { 'content-type': `multipart/form-data; boundary=${boundary}` },
      `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`,
    ],
    [
      'the button, whose page sends no origin',
      { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
      '',
    ],
    [
      'a web mailer of another site',
      {
        'content-type': 'application/x-www-form-urlencoded',
        origin: 'https://mail.example',
        'sec-fetch-site': 'cross-site',
      },
      form,
    ],
    ['a request without a body', {}, undefined],
    ['a program that sends JSON', { 'content-type': 'application/json' }, '{}'],
  ])('takes one click of %s', async (_sender, headers, payload) => {
    const reader = await person();
    const answer = await request({
      method: 'POST',
      url: pathFor(reader, 'digest'),
      headers,
      ...(payload !== undefined && { payload }),
    });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.body).toContain('Abbestellt');
    expect(await digestOf(reader)).toBe('off');
  });

  it('ends the instant alerts of all searches, but not digests', async () => {
    const reader = await person();
    for (const name of ['A', 'B'])
      await send('POST', searches, { name, filters: { text: { all: ['ziegel'] } }, instantAlert: true }, reader);
    await request({ method: 'POST', url: pathFor(reader, 'instant') });
    const rows = await across('a test reads', (tx) =>
      tx.select({ on: savedSearches.instantAlert }).from(savedSearches).where(eq(savedSearches.userId, reader.id)),
    );
    expect(rows).toEqual([{ on: false }, { on: false }]);
    expect(await digestOf(reader)).toBe('daily');
  });

  it('is 404 with any other token, and limits the body', async () => {
    const missing = (await request({ url: '/nowhere' })).json<object>();
    const path = pathFor(user, 'digest');
    const foreign = unsubscribeUrl(
      testConfig('postgres://x@127.0.0.1/x', { SESSION_SECRET: `test:${Buffer.alloc(32, 9).toString('base64')}` }),
      { tenantId: user.tenantId, userId: user.id, kind: 'digest' },
    );
    for (const url of [
      `${path}x`,
      '/unsubscribe/x',
      '/unsubscribe/a.b.c',
      new URL(foreign).pathname,
      pathFor({ ...user, id: newId() }, 'digest'),
    ])
      for (const method of ['GET', 'POST'] as const) expect((await request({ method, url })).json()).toEqual(missing);
    expect((await request({ method: 'PUT', url: path })).statusCode).toBe(405);
    const large = await request({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'text/plain' },
      payload: 'x'.repeat(20_000),
    });
    expect(large.statusCode).toBe(413);
    expect(
      await across('a test reads', (tx) =>
        tx.execute(sql`select 1 from tender_preferences where user_id = ${user.id}`),
      ),
    ).toMatchObject({ rowCount: 0 });
  });
});
