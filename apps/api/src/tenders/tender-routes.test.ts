import { isNull, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { moduleGrants } from '@portal/db/schema/modules';
import { runs } from '@portal/db/schema/platform/operations';
import { newId } from '@portal/domain/ids';
import { noticeRecord } from '@portal/testing/tender-notices';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { testApp } from '../../testing/app.ts';

const { request, make, runtime } = await testApp({ env: { TENDER_TED_URL: 'http://127.0.0.1:1/search' } });
const system = runtime.system({ requestId: 'test', ip: null, userAgent: null });
const across = runtime.database.acrossTenants;
const admin = await make.user({ role: 'ADMIN' });
const operator = await make.user({ role: 'SUPER_ADMIN' });
const user = await make.user({ tenantId: admin.tenantId });
await across('a test grants', (tx) =>
  tx
    .insert(moduleGrants)
    .values({ id: newId(), tenantId: user.tenantId, userId: user.id, moduleKey: 'tender-radar', level: 'USE' }),
);
type User = typeof user;
const get = (url: string, as: User = user) => request({ url, as });
const send = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object, as: User = user) =>
  request({ method, url, as, ...(payload && { payload }) });

describe('tenders', () => {
  it('return the documented answers', async () => {
    const record = noticeRecord({
      title: 'Wanderwegmarkierung',
      valueCents: 12_345,
      currency: 'EUR',
      region: '50667 Köln',
      description: 'Schilder',
    });
    const { tenderIds } = await storeNotices(system, [record]);
    const answer = await get('/tenders?q=wanderwegmarkierung');
    expect(answer.headers).toMatchObject({ 'x-total-count': '1' });
    const shown = {
      id: tenderIds[0],
      title: 'Wanderwegmarkierung',
      buyerName: 'Stadt Musterhausen',
      buyerCity: 'Musterhausen',
      cpvCodes: ['90911000'],
      cpvDivisions: ['90'],
      bundesland: 'NW',
      bundeslaender: ['NW'],
      isNationwide: false,
      region: '50667 Köln',
      noticeType: 'competition',
      procedureType: 'open',
      publishedAt: '2026-11-19T00:00:00.000Z',
      deadlineAt: '2999-12-18T10:00:00.000Z',
      deadlineIsDateOnly: false,
      valueCents: 12_345,
      currency: 'EUR',
      sourcePortal: 'oeffentlichevergabe',
      sourceNoticeId: record.sourceNoticeId,
      sourceUrl: record.sourceUrl,
      isCancelled: false,
      triage: { read: false, favorite: false },
    };
    expect(answer.json()).toEqual([shown]);
    expect((await get(`/tenders/${shown.id}`)).json()).toEqual({
      ...shown,
      description: 'Schilder',
      lots: [],
      documentsUrl: null,
      deadlines: [{ kind: 'tender', lotId: null, at: '2999-12-18T10:00:00.000Z', isDateOnly: false }],
      alsoAt: [],
    });
    expect((await get('/tenders/facets?q=wanderwegmarkierung')).json()).toEqual({
      sources: [{ key: 'oeffentlichevergabe', count: 1 }],
      bundeslaender: [{ key: 'NW', count: 1 }],
      cpvDivisions: [{ key: '90', count: 1 }],
      isCapped: false,
    });
    const marked = await send('PUT', `/tenders/${shown.id}/triage`, { read: true });
    expect([marked.statusCode, marked.json()]).toEqual([200, { read: true, favorite: false }]);
    const several = await send('POST', '/tenders/triage', { ids: [shown.id], favorite: true });
    expect([several.statusCode, several.json()]).toEqual([200, [{ id: shown.id, read: true, favorite: true }]]);
    expect((await get('/tenders?q=wanderwegmarkierung&favorite=true&unread=false')).json()).toMatchObject([
      { id: shown.id, triage: { read: true, favorite: true } },
    ]);
    expect((await get('/tenders?q=wanderwegmarkierung&favorite=true', admin)).json()).toEqual([]);
  });

  it('are paged by the link header, and not with another sort order', async () => {
    await storeNotices(
      system,
      Array.from({ length: 5 }, (_, n) => noticeRecord({ title: `Blätterprobe ${n}` })),
    );
    const first = await get('/tenders?q=Blätterprobe&limit=2&sort=deadline');
    const link = /<(.*)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? '';
    const second = await get(link);
    const third = await get(
      `/tenders?q=Blätterprobe&limit=2&sort=deadline&cursor=${String(second.headers['x-next-cursor'])}`,
    );
    const ids = [first, second, third].flatMap((answer) => answer.json<{ id: string }[]>().map(({ id }) => id));
    expect(new Set(ids).size).toBe(5);
    expect(third.headers['x-next-cursor']).toBeUndefined();
    const other = await get(`/tenders?q=Blätterprobe&cursor=${String(first.headers['x-next-cursor'])}`);
    expect([other.statusCode, other.json()]).toMatchObject([400, { code: 'VALIDATION_FAILED' }]);
  });

  it.each([
    ['bundesland=XX'],
    ['noticeType=auction'],
    ['noticeType='],
    ['cpv=9'],
    ['cpv=90911000-2'],
    ['source=ebay'],
    ['source=__proto__'],
    ['sort=title'],
    ['favorite=yes'],
    ['publishedFrom=yesterday'],
    ['limit=201'],
    ['limit=0'],
    ['cursor=xyz'],
    [`cursor=${Buffer.from('["published","now()","01a203a1-fd37-7685-85a7-29d9cff6b3fd"]').toString('base64url')}`],
    [`cursor=${Buffer.from('["published","99999","01a203a1-fd37-7685-85a7-29d9cff6b3fd"]').toString('base64url')}`],
    [`q=${'wort+'.repeat(21)}`],
    [`q=${'wort+'.repeat(2_000)}`],
    ['q=a%00b'],
    [`cpv=${Array.from({ length: 51 }, () => '90').join()}`],
  ])('are 400 with %s', async (query) => {
    const answer = await get(`/tenders?${query}`);
    expect([answer.statusCode, answer.json()]).toMatchObject([400, { code: 'VALIDATION_FAILED' }]);
  });

  it.each([
    ["'; drop table tenders; --"],
    ['((&|!:*<->'],
    ["\\' ''"],
    ['__proto__'],
    ['"'],
    ['-"'],
    ['der die das'],
    ['🏗'],
    ['%'],
  ])('accept %s as text', async (typed) => {
    for (const path of ['/tenders', '/tenders/facets'])
      for (const name of ['q', 'buyer'])
        expect((await request({ url: path, query: { [name]: typed }, as: user })).statusCode).toBe(200);
  });

  it('are counted up to 1,000, and in facets up to the newest 10,000', async () => {
    const insert = (count: number) =>
      across('a test makes tenders', async (tx) => {
        await tx.execute(sql`
          with made as (insert into tenders (id) select gen_random_uuid() from generate_series(1, ${count}) returning id)
          insert into tender_search (tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys, bundeslaender,
            is_nationwide, cpv_divisions, document)
          select id, now(), 'infinity', false, 'infinity', true, '{ted}', '{}', true, '{99}', to_tsvector('german', 'Mengenprobe') from made`);
      });
    await insert(1_000);
    expect((await get('/tenders?q=Mengenprobe&limit=1')).headers).toMatchObject({ 'x-total-count': '1000' });
    await insert(1);
    expect((await get('/tenders?q=Mengenprobe&limit=1')).headers['x-total-count']).toBeUndefined();
    await insert(8_999);
    const facets = async () => (await get('/tenders/facets?q=Mengenprobe')).json();
    expect(await facets()).toMatchObject({ isCapped: false, sources: [{ key: 'ted', count: 10_000 }] });
    await insert(1);
    expect(await facets()).toMatchObject({
      isCapped: true,
      sources: [{ key: 'ted', count: 10_000 }],
      cpvDivisions: [{ key: '99', count: 10_000 }],
    });
  });
});

describe('triage', () => {
  it.each([
    [{ ids: [] }, 400],
    [{ ids: ['x'], read: true }, 400],
    [{ ids: Array.from({ length: 201 }, () => newId()), read: true }, 400],
    [{ ids: [newId()], read: 'yes' }, 400],
    [{ ids: [newId()], read: null }, 400],
    [{ ids: [newId()], read: true }, 404],
  ])('%j is %i', async (payload, status) => {
    expect((await send('POST', '/tenders/triage', payload)).statusCode).toBe(status);
  });
});

describe('feeds', () => {
  const url = () => `https://feed.example/${newId()}?a=1`;

  it('are registered, listed, changed and removed', async () => {
    const body = { url: url(), title: ' Stadt ', scope: 'personal' };
    const created = await send('POST', '/rss-feeds', body);
    const feed = created.json<{ id: string; sourceKey: string }>();
    expect([created.statusCode, feed]).toEqual([
      201,
      {
        id: expect.any(String),
        url: body.url,
        title: 'Stadt',
        scope: 'personal',
        isActive: true,
        sourceKey: expect.stringMatching(/^rss:/),
        lastRunAt: null,
        lastSuccessAt: null,
        state: 'new',
        newCount: 0,
        error: null,
        createdAt: expect.any(String),
      },
    ]);
    expect((await get('/rss-feeds')).json()).toEqual([feed]);
    expect((await get('/tenders/sources')).json()).toContainEqual(
      expect.objectContaining({ key: feed.sourceKey, name: 'Stadt', state: 'new' }),
    );
    expect((await send('POST', '/rss-feeds', body)).json()).toMatchObject({ statusCode: 409, code: 'FEED_EXISTS' });
    const changed = await send('PATCH', `/rss-feeds/${feed.id}`, { title: null, isActive: false });
    expect(changed.json()).toEqual({ ...feed, title: null, isActive: false });
    expect((await send('PATCH', `/rss-feeds/${feed.id}`, {})).json()).toEqual({
      ...feed,
      title: null,
      isActive: false,
    });
    // Hidden from colleagues, even from administrators.
    for (const method of ['PATCH', 'DELETE'] as const)
      expect((await send(method, `/rss-feeds/${feed.id}`, method === 'PATCH' ? {} : undefined, admin)).statusCode).toBe(
        404,
      );
    expect((await send('DELETE', `/rss-feeds/${feed.id}`)).statusCode).toBe(204);
    expect((await send('DELETE', `/rss-feeds/${feed.id}`)).statusCode).toBe(404);
    expect((await get('/rss-feeds')).json()).toEqual([]);
  });

  it('of the platform are changed by administrators, visible to every user, and recorded in the audit log', async () => {
    const body = { url: url(), scope: 'platform' };
    expect((await send('POST', '/rss-feeds', body)).json()).toMatchObject({ statusCode: 403, code: 'FORBIDDEN' });
    const created = await send('POST', '/rss-feeds', body, admin);
    expect(created.statusCode).toBe(201);
    const { id } = created.json<{ id: string }>();
    expect((await get('/rss-feeds')).json()).toMatchObject([{ id, scope: 'platform' }]);
    expect((await send('PATCH', `/rss-feeds/${id}`, { title: 'x' })).statusCode).toBe(403);
    expect((await send('DELETE', `/rss-feeds/${id}`)).statusCode).toBe(403);
    expect((await send('PATCH', `/rss-feeds/${id}`, { title: 'Alle' }, admin)).json()).toMatchObject({ title: 'Alle' });
    expect((await send('DELETE', `/rss-feeds/${id}`, undefined, admin)).statusCode).toBe(204);
    const entries = (await get('/audit-log', admin)).json<{ action: string; targetId: string; summary: string }[]>();
    expect(entries.filter(({ targetId }) => targetId === id).map(({ action }) => action)).toEqual([
      'feeds.delete',
      'feeds.update',
      'feeds.create',
    ]);
  });

  it.each([
    [{ url: 'ftp://feed.example/', scope: 'personal' }],
    [{ url: 'feed.example', scope: 'personal' }],
    [{ url: 'https://a:b@feed.example/', scope: 'personal' }],
    [{ url: `https://feed.example/${'x'.repeat(2_050)}`, scope: 'personal' }],
    [{ url: 'https://feed.example/', scope: 'everybody' }],
    [{ url: 'https://feed.example/' }],
    [{ url: 'https://feed.example/', scope: 'personal', title: 'x'.repeat(201) }],
    [{ url: 'https://feed.example/', scope: 'personal', title: 'a\nb' }],
  ])('%j are 400', async (body) => {
    expect((await send('POST', '/rss-feeds', body)).statusCode).toBe(400);
  });
});

describe('sources', () => {
  it('show their status, also if they are switched off', async () => {
    await across('a test', (tx) =>
      tx.execute(
        sql`insert into tender_sources (key, last_run_at, last_success_at, failures, error, new_count) values ('ted', now(), now(), 0, null, 7)
            on conflict (key) do update set last_run_at = now(), last_success_at = now(), failures = 0, error = null, new_count = 7`,
      ),
    );
    const sources = (await get('/tenders/sources')).json<{ key: string }[]>();
    expect(sources.slice(0, 3)).toEqual([
      {
        key: 'ted',
        name: 'TED',
        state: 'ok',
        newCount: 7,
        error: null,
        lastRunAt: expect.any(String),
        lastSuccessAt: expect.any(String),
      },
      expect.objectContaining({ key: 'oeffentlichevergabe', state: 'off' }),
      expect.objectContaining({ key: 'bund', state: 'off' }),
    ]);
  });

  it('are read at the request of an operator, one read at a time', async () => {
    expect((await send('POST', '/tenders/sources/ted/run', undefined, admin)).statusCode).toBe(403);
    for (const key of ['bund', 'nothing', '__proto__', `rss:${newId()}`])
      expect([key, (await send('POST', `/tenders/sources/${key}/run`, undefined, operator)).statusCode]).toEqual([
        key,
        404,
      ]);
    const answers = await Promise.all(
      [1, 2, 3].map(() => send('POST', '/tenders/sources/ted/run', undefined, operator)),
    );
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([202, 409, 409]);
    const started = answers.find(({ statusCode }) => statusCode === 202)?.json<{ runId: string }>();
    expect(started).toEqual({ runId: expect.any(String) });
    expect((await get(`/runs/${started?.runId}`, operator)).json()).toMatchObject({ kind: 'tenders.read-source' });
    expect((await get('/tenders/sources')).json()).toContainEqual(
      expect.objectContaining({ key: 'ted', state: 'running' }),
    );
    const end = () =>
      across('a test ends runs', (tx) => tx.update(runs).set({ state: 'succeeded', finishedAt: sql`now()` }));
    await end();
    const waiting = request({
      method: 'POST',
      url: '/tenders/sources/ted/run',
      as: operator,
      headers: { prefer: 'wait=20' },
    });
    await expect.poll(() => across('a test reads', (tx) => tx.$count(runs, isNull(runs.finishedAt)))).toBe(1);
    await end();
    const waited = await waiting;
    expect([waited.statusCode, waited.headers['preference-applied']]).toEqual([200, 'wait=20']);
    expect(waited.json()).toMatchObject({ kind: 'tenders.read-source', state: 'succeeded' });
  });
});

it('are open to users with a grant for the module only', async () => {
  const stranger = await make.user({ tenantId: admin.tenantId });
  for (const url of ['/tenders', '/tenders/facets', '/tenders/sources', `/tenders/${newId()}`, '/rss-feeds'])
    expect([url, (await get(url, stranger)).statusCode]).toEqual([url, 403]);
});

describe('the alert mailbox', () => {
  const url = '/tenders/mailbox-alert';
  // A closed port at an address that users may not enter.
  const form = { host: '127.0.0.1', port: 1, username: 'ada', password: 'mailbox-secret', folder: 'Vergabe' };
  const shown = {
    host: '127.0.0.1',
    port: 1,
    security: 'tls',
    username: 'ada',
    hasPassword: true,
    folder: 'Vergabe',
    caCertificatePem: null,
    isActive: true,
    isPaused: false,
    lastFetchedAt: null,
    lastError: null,
  };

  it('is set, read, tested and deleted by its owner only', async () => {
    const put = await send('PUT', url, form);
    expect([put.statusCode, put.json()]).toEqual([200, shown]);
    expect((await get(url)).json()).toEqual(shown);
    expect((await get(url, admin)).json()).toMatchObject({ host: null, hasPassword: false, isActive: null });
    const tried = await send('POST', `${url}/test`, { ...form, password: '' });
    expect([tried.statusCode, tried.json()]).toMatchObject([200, { ok: false, error: 'unreachable' }]);
    const elsewhere = await send('PUT', url, { ...form, host: 'imap.example.org', password: undefined });
    expect([elsewhere.statusCode, elsewhere.json()]).toMatchObject([400, { code: 'SECRET_REQUIRED' }]);
    expect((await get('/tenders/sources')).json()).toContainEqual(
      expect.objectContaining({ key: 'mailbox', name: 'Eigenes Postfach', state: 'new' }),
    );
    expect((await get('/tenders/sources', admin)).json()).not.toContainEqual(
      expect.objectContaining({ key: 'mailbox' }),
    );
    expect((await send('POST', '/tenders/sources/mailbox/run', {}, operator)).statusCode).toBe(404);
    expect((await send('DELETE', url)).statusCode).toBe(204);
    expect((await send('DELETE', url)).statusCode).toBe(204);
    expect((await get(url)).json()).toMatchObject({ host: null, hasPassword: false });
  });

  it.each([
    [{ host: '' }],
    [{ host: 'imap.example.org/x' }],
    [{ host: null }],
    [{ port: 0 }],
    [{ port: '993' }],
    [{ security: 'ssl' }],
    [{ username: 'a\nb' }],
    [{ folder: '' }],
    [{ folder: 'x'.repeat(201) }],
    [{ password: 5 }],
    [{ isActive: 'yes' }],
    [{ caCertificatePem: 'no certificate' }],
  ])('with %j is 400', async (change) => {
    for (const [method, path] of [
      ['PUT', url],
      ['POST', `${url}/test`],
    ] as const)
      expect((await send(method, path, { ...form, ...change })).statusCode).toBe(400);
  });
});
