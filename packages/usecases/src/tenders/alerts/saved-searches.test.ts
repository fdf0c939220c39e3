import { and, eq, inArray, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import type { Tx } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';
import { tenderMatches, unmatchedTenders } from '@portal/db/schema/tenders/matches';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { rssFeeds } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { TenderFilters } from '@portal/domain/tenders/filters';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { maxSavedSearches } from '@portal/domain/tenders/saved-searches';
import { mailboxSource } from '@portal/domain/tenders/sources';
import type { UserContext } from '@portal/platform/context';
import { removeExpiredRows } from '@portal/platform/retention';
import { alertMailboxForm } from '@portal/testing/alert-mailboxes';
import { testRuntime } from '@portal/testing/runtime';
import { noticeRecord } from '@portal/testing/tender-notices';
import { tenders as area } from '../area.ts';
import { createFeed, deleteFeed, listFeeds } from '../feeds.ts';
import { putAlertMailbox } from '../mailbox/mailbox.ts';
import { storeNotices } from '../store-notices.ts';
import { triageTenders } from '../triage.ts';
import { outdatedSearches } from './compile-search.ts';
import { removeSurplusMatches } from './match-state.ts';
import { matchNewTenders } from './match-tenders.ts';
import { setNotificationPreference } from './preference.ts';
import {
  createSavedSearch,
  deleteSavedSearch,
  listSavedSearches,
  previewSearch,
  updateSavedSearch,
} from './saved-searches.ts';

const { ownerUrl, runtime, system, make, signedIn } = await testRuntime({ OUTBOUND_ALLOW_HOSTS: '127.0.0.1' });
const across = runtime.database.acrossTenants;
const person = async (tenantId?: string) => signedIn(await make.user({ role: 'ADMIN', ...(tenantId && { tenantId }) }));
const words = (...all: string[]) => ({ text: { all } });
let names = 0;
const save = (ctx: UserContext, filters: object, { instantAlert = false, name = `Suche ${(names += 1)}` } = {}) =>
  createSavedSearch(ctx, { name, filters: TenderFilters.parse(filters), instantAlert });
const recent = new Date(Date.now() - 3_600_000).toISOString();
const call = (title: string, overrides: Partial<NoticeRecord> = {}) =>
  noticeRecord({ title, publishedAt: recent, ...overrides });
const match = () => matchNewTenders(system(), new AbortController().signal);
async function ingest(...records: NoticeRecord[]): Promise<string[]> {
  const { tenderIds } = await storeNotices(system(), records);
  await match();
  return tenderIds;
}
async function withOwner(work: (owner: Client) => Promise<unknown>): Promise<void> {
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    await work(owner);
  } finally {
    await owner.end();
  }
}
const matchesOf = (...searchIds: string[]) =>
  across('a test reads', (tx) =>
    tx.select().from(tenderMatches).where(inArray(tenderMatches.searchId, searchIds)).orderBy(tenderMatches.matchedAt),
  );

describe('a saved search', () => {
  it('has a name that is unique in the account, regardless of case', async () => {
    const ctx = await person();
    await save(ctx, {}, { name: 'Österliche Büroreinigung' });
    await expect(save(ctx, {}, { name: 'ÖSTERLICHE büroREINIGUNG' })).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    const other = await save(ctx, {}, { name: 'Andere' });
    await expect(updateSavedSearch(ctx, other.id, { name: 'österliche büroreinigung' })).rejects.toMatchObject({
      code: 'NAME_TAKEN',
    });
    await save(await person(ctx.tenantId), {}, { name: 'Österliche Büroreinigung' });
    expect((await listSavedSearches(ctx)).map(({ name }) => name)).toEqual(['Andere', 'Österliche Büroreinigung']);
  });

  it('is one of at most fifty, even with concurrent calls', async () => {
    const ctx = await person();
    for (let n = 2; n < maxSavedSearches; n += 1) await save(ctx, words('nirgends'));
    const last = await Promise.allSettled([1, 2, 3, 4].map(() => save(ctx, words('nirgends'))));
    expect(last.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(last.filter(({ status }) => status === 'rejected')).toMatchObject(
      [1, 2].map(() => ({ reason: { code: 'LIMIT_REACHED' } })),
    );
  });

  it.each([
    ['words too common to be searched', { text: { all: ['der', 'und'] } }],
    ['no word at all', { text: { any: ['&&', '!!'] } }],
    [
      'words too common to be searched, besides other filters',
      { text: { phrases: ['und die'] }, cpv: { prefixes: ['90'] } },
    ],
  ])('is refused for %s, and so is its preview', async (_title, filters) => {
    const ctx = await person();
    const refused = { code: 'VALIDATION_FAILED', details: [{ path: 'filters.text' }] };
    await expect(save(ctx, filters)).rejects.toMatchObject(refused);
    await expect(previewSearch(ctx, TenderFilters.parse(filters))).rejects.toMatchObject(refused);
  });

  it.each([{}, { text: {} }, { region: { laender: [] }, deadline: {} }, { value: {}, kinds: [], sources: [] }])(
    'has no instant alert while its filters are empty: %j',
    async (filters) => {
      const ctx = await person();
      await expect(save(ctx, filters, { instantAlert: true })).rejects.toMatchObject({
        details: [{ path: 'instantAlert' }],
      });
      const { id } = await save(ctx, filters);
      await expect(updateSavedSearch(ctx, id, { instantAlert: true })).rejects.toMatchObject({ kind: 'invalid' });
      await updateSavedSearch(ctx, id, {
        instantAlert: true,
        filters: TenderFilters.parse({ deadline: { minDays: 3 } }),
      });
      await expect(updateSavedSearch(ctx, id, { filters: TenderFilters.parse({}) })).rejects.toMatchObject({
        kind: 'invalid',
      });
    },
  );

  it('gets dismissed matches of the last 30 days', async () => {
    const ctx = await person();
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    await ingest(
      call('Rhabarberkuchen frisch'),
      call('Rhabarberkuchen alt', { publishedAt: daysAgo(29) }),
      call('Rhabarberkuchen zu alt', { publishedAt: daysAgo(31) }),
    );
    const search = await save(ctx, words('rhabarberkuchen'), { instantAlert: true });
    expect(search).toMatchObject({ matchCount: 2, newCount: 2 });
    expect((await matchesOf(search.id)).map((row) => [row.notifiedAt !== null, row.wasSent, row.reasons])).toEqual([
      [true, false, ['rhabarberkuchen']],
      [true, false, ['rhabarberkuchen']],
    ]);
  });

  it('counts tenders that the account has not read as new', async () => {
    const ctx = await person();
    const other = await person(ctx.tenantId);
    const { id } = await save(ctx, words('quittengelee'));
    const [first = ''] = await ingest(call('Quittengelee 1'), call('Quittengelee 2'));
    await triageTenders(other, [first], { read: true });
    const counts = async () => (await listSavedSearches(ctx)).map(({ matchCount, newCount }) => [matchCount, newCount]);
    expect(await counts()).toEqual([[2, 2]]);
    await triageTenders(ctx, [first], { read: true });
    expect(await counts()).toEqual([[2, 1]]);
    expect((await listSavedSearches(ctx))[0]?.id).toBe(id);
  });

  it('drops matches that were not sent when its filters change, but not when its name changes', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('sanddornsaft'));
    const [sent = '', pending = ''] = await ingest(call('Sanddornsaft 1'), call('Sanddornsaft 2'));
    await across('a test marks matches as sent', (tx) =>
      tx
        .update(tenderMatches)
        .set({ wasSent: true, notifiedAt: sql`now()` })
        .where(eq(tenderMatches.tenderId, sent)),
    );
    await updateSavedSearch(ctx, id, { name: 'Neuer Name' });
    expect(await matchesOf(id)).toHaveLength(2);
    const [other = ''] = await ingest(call('Holundersaft'));
    await updateSavedSearch(ctx, id, { filters: TenderFilters.parse(words('holundersaft')) });
    const rows = await matchesOf(id);
    expect(new Set(rows.map(({ tenderId }) => tenderId))).toEqual(new Set([sent, other]));
    expect(rows.map(({ tenderId }) => tenderId)).not.toContain(pending);
    expect(rows.every(({ notifiedAt }) => notifiedAt !== null)).toBe(true);
  });

  it('is hidden from other accounts', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('eigenes'));
    for (const stranger of [await person(ctx.tenantId), await person()]) {
      expect(await listSavedSearches(stranger)).toEqual([]);
      await expect(updateSavedSearch(stranger, id, { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(deleteSavedSearch(stranger, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    await deleteSavedSearch(ctx, id);
    await expect(deleteSavedSearch(ctx, id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is compiled again before matching if an earlier release compiled it', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('mirabellenbaum'));
    const outdated = {
      question: sql`'nothing'::tsquery`,
      bounds: '{}',
      termLabels: [],
      termQuestions: [],
      compilerVersion: 0,
    };
    await across('a test', (tx) => tx.update(savedSearches).set(outdated).where(eq(savedSearches.id, id)));
    await ingest(call('Mirabellenbaum'));
    expect(await matchesOf(id)).toMatchObject([{ reasons: ['mirabellenbaum'] }]);
  });

  it('is not read to find those that an earlier release compiled', async () => {
    const { id } = await save(await person(), words('nirgends'));
    await withOwner(async (owner) => {
      await owner.query(
        `insert into saved_searches select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(), 'name', n))).*
         from saved_searches s, generate_series(1, 5000) n where s.id = $1`,
        [id],
      );
      await owner.query('analyze saved_searches');
    });
    const plan = await across('a test looks at a plan', async (tx) => {
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${outdatedSearches(tx, id).getSQL()}`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain('saved_searches_compiler');
    expect(plan).not.toMatch(/Seq Scan|_pkey/);
    await across('a test tidies up', (tx) =>
      tx.delete(savedSearches).where(eq(savedSearches.termLabels, ['nirgends'])),
    );
  });
});

describe('matching', () => {
  it('stores the matching words, phrases, codes and buyers as reasons', async () => {
    const ctx = await person();
    const filters = {
      text: { any: ['brombeere', 'himbeere'], phrases: ['rote Grütze'] },
      cpv: { prefixes: ['9091', '45'] },
      buyer: { any: ['Stadt Musterhausen'] },
    };
    const { id } = await save(ctx, filters);
    const inTitle = await save(ctx, { text: { any: ['brombeere', 'himbeere'], fields: ['title'] } });
    await ingest(call('Himbeeren und rote Grütze', { description: 'Keine Brombeere' }));
    expect(await matchesOf(id)).toMatchObject([
      { reasons: ['brombeere', 'himbeere', 'rote Grütze', 'CPV 9091', 'Stadt Musterhausen'], notifiedAt: null },
    ]);
    expect(await matchesOf(inTitle.id)).toMatchObject([{ reasons: ['himbeere'] }]);
  });

  it('writes one match per tender and search, even if the tender comes again', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('stachelbeere'));
    const record = call('Stachelbeere', { noticeUuid: newId() });
    await ingest(record);
    const [before] = await matchesOf(id);
    await ingest(record);
    // Another source joins, and a correction comes.
    await ingest(call('Stachelbeere', { sourcePortal: 'ted', noticeUuid: record.noticeUuid }));
    await ingest({
      ...call('Stachelbeere, berichtigt', { noticeUuid: newId() }),
      isCorrection: true,
      changes: { noticeUuid: record.noticeUuid ?? '', version: 1, publicationNumber: null },
    });
    expect(await matchesOf(id)).toEqual([before]);
    expect(await across('a test reads', (tx) => tx.$count(unmatchedTenders))).toBe(0);
  });

  it('keeps one match when two tenders are merged, sent if one of them was', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('preiselbeere'));
    const [first = ''] = await ingest(
      call('Preiselbeere A', { noticeUuid: newId(), publicationNumber: '900001-2026' }),
    );
    const uuid = newId();
    const [second = ''] = await ingest(
      call('Preiselbeere B', { sourcePortal: 'bund', noticeUuid: null, noticeKey: 'b1', bundId: '4711' }),
    );
    expect(await matchesOf(id)).toHaveLength(2);
    await across('a test marks matches as sent', (tx) =>
      tx
        .update(tenderMatches)
        .set({ wasSent: true, notifiedAt: sql`now()` })
        .where(eq(tenderMatches.tenderId, second)),
    );
    await ingest(
      call('Preiselbeere C', {
        sourcePortal: 'ted',
        noticeUuid: uuid,
        publicationNumber: '900001-2026',
        bundId: '4711',
      }),
    );
    expect(await matchesOf(id)).toMatchObject([{ tenderId: first, wasSent: true, notifiedAt: expect.any(Date) }]);
  });

  it('dismisses matches of the first read of a source', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('mispelmus'), { instantAlert: true });
    await storeNotices(system(), [call('Mispelmus 1')], { isFirstRead: true });
    await storeNotices(system(), [call('Mispelmus 2')]);
    await match();
    expect((await matchesOf(id)).map(({ notifiedAt }) => notifiedAt === null).toSorted()).toEqual([false, true]);
  });

  it('skips inactive tenants, and dismisses matches of accounts that want no mail', async () => {
    const [active, inactive, silent] = [await person(), await person(), await person()];
    const searches = await Promise.all([active, inactive, silent].map((ctx) => save(ctx, words('eibischtee'))));
    const loud = await save(silent, words('eibischtee'), { instantAlert: true });
    await setNotificationPreference(silent, { digest: 'off' });
    await across('a test', (tx) =>
      tx.update(tenants).set({ isActive: false }).where(eq(tenants.id, inactive.tenantId)),
    );
    await ingest(call('Eibischtee'));
    const states = await Promise.all(
      [...searches, loud].map(async ({ id }) =>
        (await matchesOf(id)).map(({ kind, notifiedAt }) => [kind, notifiedAt === null]),
      ),
    );
    expect(states).toEqual([[['digest', true]], [], [['digest', false]], [['instant', true]]]);
  });

  it('matches tenders of a personal feed only for its owner', async () => {
    const tenant = await make.tenant();
    const [owner, other] = [await person(tenant.id), await person(tenant.id)];
    await createFeed(owner, { url: 'http://127.0.0.1:9/feed.xml', scope: 'personal' });
    const [feed] = await listFeeds(owner);
    const source = feed?.sourceKey ?? '';
    const searches = [await save(owner, words('waldmeister')), await save(other, words('waldmeister'))];
    const ofSource = [await save(owner, { sources: [source] }), await save(other, { sources: [source] })];
    const seen = async () =>
      Promise.all([...searches, ...ofSource].map(async ({ id }) => (await matchesOf(id)).length));
    const personal = call('Waldmeister', {
      sourcePortal: source,
      noticeUuid: null,
      noticeKey: 'w1',
      portalIds: ['subreport:E12345678'],
      form: null,
    });
    await ingest(personal);
    expect(await seen()).toEqual([1, 0, 1, 0]);
    // A public source confirms it.
    await ingest(call('Waldmeister', { portalIds: ['subreport:E12345678'] }));
    expect(await seen()).toEqual([1, 1, 1, 0]);
    await ingest(call('Waldmeister zwei', { sourcePortal: source, noticeUuid: null, noticeKey: 'w2', form: null }));
    expect(await seen()).toEqual([2, 1, 2, 0]);
    await deleteFeed(owner, feed?.id ?? '');
    expect(await seen()).toEqual([1, 1, 1, 0]);
    expect(await across('a test reads', (tx) => tx.$count(rssFeeds, eq(rssFeeds.sourceKey, source)))).toBe(0);
  });

  it('matches tenders of an alert mailbox only for its owner, also by that source', async () => {
    const tenant = await make.tenant();
    const [owner, other] = [await person(tenant.id), await person(tenant.id)];
    await putAlertMailbox(owner, alertMailboxForm({ host: '127.0.0.1', port: 9 }, 'ada'));
    const searches = await Promise.all(
      [words('felsenbirne'), { sources: ['mailbox'] }].flatMap((filters) => [
        save(owner, filters),
        save(other, filters),
      ]),
    );
    const seen = async () => Promise.all(searches.map(async ({ id }) => (await matchesOf(id)).length));
    const portalIds = ['subreport:E22345678'];
    const sourcePortal = mailboxSource(owner.actor.id);
    await ingest(call('Felsenbirne', { sourcePortal, noticeUuid: null, noticeKey: 'm1', portalIds, form: null }));
    expect(await seen()).toEqual([1, 0, 1, 0]);
    // A public source confirms it.
    await ingest(call('Felsenbirne', { portalIds }));
    expect(await seen()).toEqual([1, 1, 1, 0]);
  });

  it('finds text within words of titles', async () => {
    const ctx = await person();
    const { id } = await save(ctx, { text: { contains: ['lweidenh'] } });
    const [found = ''] = await ingest(call('Schmale Ölweidenhecke'), call('Hecke', { description: 'Ölweidenhecke' }));
    expect((await matchesOf(id)).map(({ tenderId }) => tenderId)).toEqual([found]);
  });

  it('misses no tender that is stored while the search is saved', async () => {
    const ctx = await person();
    const stored = storeNotices(
      system(),
      Array.from({ length: 40 }, (_, n) => call(`Kornelkirsche ${n}`)),
    );
    const saving = save(ctx, words('kornelkirsche'));
    const [{ id }] = await Promise.all([saving, stored, match()]);
    await match();
    expect(await matchesOf(id)).toHaveLength(40);
  });

  it('takes smaller batches when searches find many tenders, and leaves out none', async () => {
    const ctx = await person();
    const searches = await Promise.all([1, 2, 3, 4, 5].map(() => save(ctx, words('mehlbeere'))));
    await storeNotices(
      system(),
      Array.from({ length: 12 }, (_, n) => call(`Mehlbeere ${n}`)),
    );
    await matchNewTenders(system(), new AbortController().signal, { tenders: 8, pairs: 6, searches: 2 });
    for (const { id } of searches) expect(await matchesOf(id)).toHaveLength(12);
    expect(await across('a test reads', (tx) => tx.$count(unmatchedTenders))).toBe(0);
  });

  it('resumes after an interruption, and runs one at a time', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('berberitze'));
    await storeNotices(
      system(),
      Array.from({ length: 30 }, (_, n) => call(`Berberitze ${n}`)),
    );
    await expect(matchNewTenders(system(), AbortSignal.abort())).rejects.toThrow();
    await Promise.all([match(), match(), match()]);
    expect(await matchesOf(id)).toHaveLength(30);
  });

  it('accepts any text', async () => {
    const ctx = await person();
    const odd = [
      `it's`,
      String.raw`a\b`,
      'C++',
      "'; drop",
      '<->',
      '!&|',
      'a:*',
      '__proto__',
      '🦊fuchs',
      'x'.repeat(60),
      'übergrößenträger',
    ];
    const searches = [];
    for (const text of odd)
      searches.push(await save(ctx, { text: { any: [text, 'zwetschge'] }, buyer: { none: [text] } }));
    const [tenderId] = await ingest(call(`Zwetschge ${odd.join(' ')}`));
    for (const { id } of searches)
      expect((await matchesOf(id)).filter((found) => found.tenderId === tenderId)).toHaveLength(1);
  });

  it('is removed after 180 days', async () => {
    const ctx = await person();
    const { id } = await save(ctx, words('kapuzinerkresse'));
    const [old = ''] = await ingest(call('Kapuzinerkresse 1'), call('Kapuzinerkresse 2'));
    await across('a test', (tx) =>
      tx
        .update(tenderMatches)
        .set({ matchedAt: sql`now() - interval '181 days'`, notifiedAt: sql`now()` })
        .where(and(eq(tenderMatches.tenderId, old), eq(tenderMatches.searchId, id))),
    );
    const removed = await removeExpiredRows(system(), area.retention ?? [], new AbortController().signal);
    expect(removed['matches of tenders']).toBe(1);
    expect(await matchesOf(id)).toHaveLength(1);
  });

  it('stays as long as it is among the newest of its search', async () => {
    const ctx = await person();
    const [busy, calm] = [await save(ctx, words('liebstoeckel')), await save(ctx, words('liebstoeckel', 'bund'))];
    const found = await ingest(
      call('Liebstoeckel im Bund'),
      ...Array.from({ length: 4 }, (_, n) => call(`Liebstoeckel ${n}`)),
    );
    for (const [n, tenderId] of found.entries())
      await across('a test', (tx) =>
        tx
          .update(tenderMatches)
          .set({ matchedAt: sql`now() - make_interval(mins => ${n})` })
          .where(eq(tenderMatches.tenderId, tenderId)),
      );
    const surplus = { what: 'surplus', walk: (tx: Tx, after: string) => removeSurplusMatches(tx, after, 3) };
    const remove = () => removeExpiredRows(system(), [surplus], new AbortController().signal);
    expect((await remove())['surplus']).toBeGreaterThanOrEqual(2);
    expect(await remove()).toEqual({ surplus: 0 });
    const left = (await matchesOf(busy.id)).map(({ tenderId }) => tenderId);
    expect(left.toSorted()).toEqual(found.slice(0, 3).toSorted());
    expect(await matchesOf(calm.id)).toHaveLength(1);
  });
});
