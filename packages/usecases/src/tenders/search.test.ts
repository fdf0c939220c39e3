import { and, eq, inArray, sql } from 'drizzle-orm';
import { array, assert, asyncProperty, constantFrom, record, string } from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Tx } from '@portal/db/open';
import { tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { rssFeeds } from '@portal/db/schema/tenders/sources';
import { NewRssFeed } from '@portal/domain/tenders/feeds';
import { TenderFilters } from '@portal/domain/tenders/filters';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { readSearchText } from '@portal/domain/tenders/search-query';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { noticeRecord } from '@portal/testing/tender-notices';
import { createFeed, deleteFeed, listFeeds } from './feeds.ts';
import { getTender } from './get-tender.ts';
import { listTenders, ownScope, searching, type TenderList } from './list-tenders.ts';
import { listSources } from './sources.ts';
import { storeNotices } from './store-notices.ts';
import { tenderFacets } from './tender-facets.ts';
import { triageTenders } from './triage.ts';

const { runtime, system, make, signedIn } = await testRuntime();
const store = (...records: NoticeRecord[]) => storeNotices(system(), records);
const across = runtime.database.acrossTenants;

type Asked = Partial<Omit<TenderList, 'filters'>> & { filters?: object; text?: TenderFilters['text'] };
const asked = ({ filters = {}, text, ...list }: Asked): TenderList => ({
  filters: { ...TenderFilters.parse(filters), ...(text && { text }) },
  window: {},
  triage: {},
  sort: 'published',
  limit: 200,
  ...list,
});
const find = async (ctx: UserContext, list: Asked) => (await listTenders(ctx, asked(list))).items;
const facetsOf = (ctx: UserContext, list: Asked) => tenderFacets(ctx, asked(list));

const reader = await signedIn(await make.user());

describe('words', () => {
  const titles = {
    compound: 'Gebäudereinigung im Rathaus',
    spelledOut: 'Gebaeudereinigung in der Schule',
    joined: 'Gebäudereinigungsarbeiten am Bahnhof',
    plain: 'Reinigung der Fenster',
    houses: 'Abbruch mehrerer Häuser',
    bus: 'Schülerbeförderung im Landkreis',
    road: 'Erneuerung der Straße',
    other: 'Lieferung von Druckern',
  };
  beforeAll(() => store(...Object.values(titles).map((title) => noticeRecord({ title, cpvCodes: ['98000000'] }))));
  const names = Object.keys(titles) as (keyof typeof titles)[];
  const titlesFor = async (typed: string) => {
    const found = await find(reader, { filters: { text: readSearchText(typed) } });
    return names.filter((name) => found.some(({ title }) => title === titles[name]));
  };

  it.each([
    ['Reinigung', ['compound', 'spelledOut', 'joined', 'plain']],
    ['reinigungen', ['compound', 'spelledOut', 'joined', 'plain']],
    ['Gebäude', ['compound', 'spelledOut', 'joined']],
    ['Gebaeude', ['compound', 'spelledOut', 'joined']],
    ['gebaeudereinigung', ['compound', 'spelledOut', 'joined']],
    ['Gebäudereinigung', ['compound', 'spelledOut', 'joined']],
    ['Haus', ['compound', 'houses']],
    ['Haeuser', ['compound', 'houses']],
    ['Schuelerbefoerderung', ['bus']],
    ['Beförderung Schüler', ['bus']],
    ['Strasse', ['road']],
    ['drucker', ['other']],
    ['druck*', ['other']],
    ['reinigung -rathaus', ['spelledOut', 'joined', 'plain']],
    ['"der Fenster"', ['plain']],
    ['"im Rathaus" Reinigung', ['compound']],
    ['reinigung fenster', ['plain']],
    ['Unauffindbarkeit', []],
    ['der', names],
    ['', names],
  ] satisfies [string, string[]][])('%j finds %j', async (typed, expected) => {
    expect(await titlesFor(typed)).toEqual(expected);
  });

  it('include the labels of CPV codes', async () => {
    await store(noticeRecord({ title: 'Rahmenvertrag Nr. 7', cpvCodes: ['90911200'] }));
    expect(await find(reader, { filters: { text: readSearchText('Gebäudereinigung Rahmenvertrag') } })).toHaveLength(1);
  });

  it('are searched in the given fields', async () => {
    await store(
      noticeRecord({ title: 'Zeppelin im Titel', cpvCodes: [] }),
      noticeRecord({ title: 'Anderes', description: 'Ein Zeppelin im Text', cpvCodes: [] }),
      noticeRecord({
        title: 'Mit Losen',
        cpvCodes: [],
        lots: [
          {
            id: '1',
            title: 'Zeppelin',
            description: null,
            cpvCodes: [],
            nutsCodes: [],
            valueCents: null,
            currency: null,
          },
        ],
      }),
      noticeRecord({ title: 'Vom Verein', buyerName: 'Zeppelin e. V.', cpvCodes: [] }),
    );
    const titlesIn = async (fields?: string[]) =>
      (await find(reader, { filters: { text: { all: ['zeppelin'], ...(fields && { fields }) } } }))
        .map(({ title }) => title)
        .toSorted();
    expect(await titlesIn()).toHaveLength(4);
    expect(await titlesIn(['title'])).toEqual(['Zeppelin im Titel']);
    expect(await titlesIn(['description', 'lots'])).toEqual(['Anderes', 'Mit Losen']);
  });

  it.each([
    [{ contains: ['einigungsarb'] }, ['joined']],
    [{ contains: ['Gebäuderein'] }, ['compound', 'spelledOut', 'joined']],
    [{ contains: ['gebaeuderein', 'HULEN'] }, []],
    [{ contains: ['gebaeuderein', 'SCHUL'] }, ['spelledOut']],
    [{ all: ['Bahnhof'], contains: ['gebaeuderein'] }, ['joined']],
    [{ contains: ['%%%%'] }, []],
    [{ contains: ['_____'] }, []],
  ] satisfies [object, string[]][])('are found by a part of them: %j', async (text, expected) => {
    const found = await find(reader, { filters: { text, cpv: { prefixes: ['98'] } } });
    expect(names.filter((name) => found.some(({ title }) => title === titles[name]))).toEqual(expected);
  });

  it('are found by a part of a lot’s title, or by the code alone with `combine: any`', async () => {
    const lot = { id: '1', description: 'Quarzuhrwerk', cpvCodes: [], nutsCodes: [], valueCents: null, currency: null };
    await store(
      noticeRecord({ title: 'Stückprobe A', cpvCodes: ['18521100'], lots: [{ ...lot, title: 'Taschenuhrwerke' }] }),
      noticeRecord({ title: 'Stückprobe B', cpvCodes: ['18530000'] }),
    );
    const titlesOf = async (filters: object) => (await find(reader, { filters })).map(({ title }) => title).toSorted();
    expect(await titlesOf({ text: { contains: ['uhrwerk'] } })).toEqual(['Stückprobe A']);
    expect(await titlesOf({ text: { contains: ['quarz'] } })).toEqual([]);
    const any = { combine: 'any', cpv: { prefixes: ['1853'] } };
    expect(await titlesOf({ ...any, text: { contains: ['uhrwerk'] } })).toEqual(['Stückprobe A', 'Stückprobe B']);
    expect(await titlesOf({ ...any, text: { all: ['Stückprobe'], contains: ['uhrwerk'] } })).toEqual([
      'Stückprobe A',
      'Stückprobe B',
    ]);
    expect(await titlesOf({ ...any, text: { all: ['Zeppelin'], contains: ['uhrwerk'] } })).toEqual(['Stückprobe B']);
    expect(await titlesOf({ cpv: { prefixes: ['1853'] }, text: { contains: ['uhrwerk'] } })).toEqual([]);
  });

  it('of any kind are accepted', async () => {
    const words = constantFrom(
      '&',
      '|',
      '!',
      '(',
      ')',
      ':*',
      '<->',
      "'",
      '\\',
      '"',
      '-',
      '*',
      'a:*',
      '__proto__',
      'reinigung',
      'ß',
      '🏗️',
      '\u0000',
      'x'.repeat(60),
    );
    await assert(
      asyncProperty(array(words, { maxLength: 20 }), string({ unit: 'binary', maxLength: 30 }), async (some, any) => {
        const typed = `${some.join(' ')} ${any}`;
        await facetsOf(reader, { text: readSearchText(typed) });
      }),
      { numRuns: 60 },
    );
  });
});

describe('filters', () => {
  const all = {
    nw: { bundeslaender: ['NW'], cpvCodes: ['45233120'], valueCents: 10_000_00, currency: 'EUR' },
    by: { bundeslaender: ['BY'], cpvCodes: ['45000000', '71000000'], valueCents: 99_000_00, currency: 'EUR' },
    both: { bundeslaender: ['NW', 'RP'], cpvCodes: ['90911000'], procedureType: 'restricted' },
    everywhere: { bundeslaender: [], isNationwide: true, cpvCodes: [], nature: 'supplies' },
    nowhere: { bundeslaender: [], cpvCodes: ['03111000'], valueCents: 5_00, currency: 'CHF' },
    award: { form: 'result', cpvCodes: ['90911000'] },
    unknown: { form: null, cpvCodes: ['90000000'] },
    cancelled: { isCancelled: true },
    over: { deadlines: [{ kind: 'tender', lotId: null, at: '2020-01-01T00:00:00Z', isDateOnly: false }] },
    noDeadline: { deadlines: [], sourcePortal: 'ted' },
    otherBuyer: { buyerName: 'Landkreis Überall', sourcePortal: 'bund', nutsCodes: ['DE212'] },
  } satisfies Record<string, Partial<NoticeRecord>>;
  const names = Object.keys(all) as (keyof typeof all)[];
  const open = names.filter((name) => !['award', 'cancelled', 'over'].includes(name));
  // A word that only these tenders contain.
  const word = 'Filterprobe';
  beforeAll(async () => {
    for (const name of names) await store(noticeRecord({ title: `${word} ${name}`, ...all[name] }));
  });
  const namesFor = async (filters: object, list: Asked = {}) => {
    const found = await find(reader, { ...list, filters: { text: { all: [word] }, ...filters } });
    return names.filter((name) => found.some(({ title }) => title === `${word} ${name}`));
  };

  it.each([
    [{}, open],
    [{ kinds: ['result'] }, ['award']],
    [{ kinds: ['competition'] }, names.filter((name) => !['award', 'unknown'].includes(name))],
    [{ cpv: { prefixes: ['45'] } }, ['nw', 'by']],
    [{ cpv: { prefixes: ['45000000'] } }, ['nw', 'by']],
    [{ cpv: { prefixes: ['452331'] } }, ['nw']],
    [{ cpv: { prefixes: ['45'], exclude: ['71'] } }, ['nw']],
    [{ cpv: { prefixes: ['45'], includeMissing: true } }, ['nw', 'by', 'everywhere']],
    [{ region: { laender: ['NW'] }, cpv: { prefixes: ['45', '03'], includeMissing: true } }, ['nw', 'everywhere']],
    [{ region: { laender: ['RP', 'BY'] } }, ['by', 'both', 'everywhere']],
    [{ region: { laender: ['RP'], includeNationwide: false } }, ['both']],
    [{ region: { laender: ['RP'], includeUnknown: true } }, ['both', 'everywhere', 'nowhere']],
    [{ region: { nuts: ['DE21'], includeNationwide: false } }, ['otherBuyer']],
    [{ buyer: { any: ['Landkreis Ueberall'] } }, ['otherBuyer']],
    [{ buyer: { none: ['Musterhausen'] } }, ['otherBuyer']],
    [{ procedureTypes: ['restricted'] }, ['both']],
    [{ natures: ['supplies'] }, ['everywhere']],
    [{ sources: ['ted'] }, ['noDeadline']],
    [{ sources: ['ted', 'bund'] }, ['noDeadline', 'otherBuyer']],
    [{ value: { min: 50_000 } }, open.filter((name) => name !== 'nw')],
    [{ value: { max: 50_000, includeUnknown: false } }, ['nw']],
    [{ value: { currency: 'CHF', includeUnknown: false } }, ['nowhere']],
    [{ deadline: { includeUnknown: false } }, open.filter((name) => name !== 'noDeadline')],
    [{ deadline: { maxDays: 30 } }, ['noDeadline']],
    [{ deadline: { minDays: 30 } }, open],
    [{ published: { sinceDays: 3_650 } }, open],
    [{ published: { sinceDays: 0 } }, []],
    [
      { combine: 'any', text: { all: ['everywhere'] }, cpv: { prefixes: ['03'] }, buyer: { any: ['Musterhausen'] } },
      ['everywhere', 'nowhere'],
    ],
  ] satisfies [object, string[]][])('%j find %j', async (filters, expected) => {
    expect(await namesFor(filters)).toEqual(expected);
  });

  it('are combined with absolute times', async () => {
    const kinds = { kinds: ['competition'] };
    const at = (iso: string) => new Date(iso);
    expect(await namesFor(kinds, { window: { deadlineTo: at('2020-01-01T00:00:00Z') } })).toEqual([
      'over',
      'noDeadline',
    ]);
    expect(await namesFor(kinds, { window: { deadlineFrom: at('2020-01-01T00:00:00.001Z') } })).not.toContain('over');
    expect(await namesFor({}, { window: { publishedFrom: at('2026-11-19T00:00:00Z') } })).toEqual(open);
    expect(await namesFor({}, { window: { publishedFrom: at('2026-11-19T00:00:00.001Z') } })).toEqual([]);
    expect(await namesFor({}, { window: { publishedTo: at('2026-11-18T23:59:59Z') } })).toEqual([]);
  });

  it('agree with facets: each count equals the result of selecting it', async () => {
    const text = { text: { all: [word] } };
    const facets = await facetsOf(reader, { filters: text });
    for (const { key, count } of facets.bundeslaender)
      expect([key, await find(reader, { filters: { ...text, region: { laender: [key] } } })]).toMatchObject([
        key,
        { length: count },
      ]);
    for (const { key, count } of facets.cpvDivisions)
      expect([key, await find(reader, { filters: { ...text, cpv: { prefixes: [key] } } })]).toMatchObject([
        key,
        { length: count },
      ]);
    for (const { key, count } of facets.sources)
      expect([key, await find(reader, { filters: { ...text, sources: [key] } })]).toMatchObject([
        key,
        { length: count },
      ]);
    expect(facets).toMatchObject({ isCapped: false });
    expect(facets.bundeslaender).toHaveLength(16);
  });

  it('on triage find only the marked tenders', async () => {
    const ctx = await signedIn(await make.user());
    const [first, second] = await find(ctx, { filters: { text: { all: [word] }, cpv: { prefixes: ['45'] } } });
    await triageTenders(ctx, [first?.id ?? '', second?.id ?? ''], { read: true });
    await triageTenders(ctx, [first?.id ?? ''], { favorite: true });
    const ids = async (triage: TenderList['triage']) =>
      (await find(ctx, { triage, filters: { text: { all: [word] } } })).map(({ id }) => id);
    expect(await ids({ favorite: true })).toEqual([first?.id]);
    expect((await ids({ unread: false })).toSorted()).toEqual([first?.id, second?.id].toSorted());
    expect(await ids({ unread: true })).toHaveLength(open.length - 2);
    expect(await ids({ unread: true, favorite: true })).toEqual([]);
    // Hidden from other accounts.
    expect(await find(reader, { triage: { favorite: true } })).toEqual([]);
  });
});

describe('pages', () => {
  const word = 'Seitenprobe';
  const day = (n: number) => `2026-0${1 + (n % 9)}-01T00:00:00.000Z`;
  beforeAll(() =>
    store(
      ...Array.from({ length: 25 }, (_, n) =>
        noticeRecord({
          title: `${word} ${word.repeat(n % 2)} ${n}`,
          publishedAt: day(n),
          deadlines:
            n % 5 === 0
              ? []
              : [{ kind: 'tender', lotId: null, at: `29${10 + (n % 7)}-01-01T00:00:00Z`, isDateOnly: false }],
        }),
      ),
    ),
  );

  it.each(['published', 'deadline', 'relevance'] as const)('by %s hold each tender once, in order', async (sort) => {
    const filters = { text: { all: [word] } };
    const whole = await find(reader, { filters, sort });
    expect(whole).toHaveLength(25);
    const paged: string[] = [];
    for (let after: TenderList['after'], more = true; more;) {
      const page = await listTenders(reader, asked({ filters, sort, limit: 4, after }));
      paged.push(...page.items.map(({ id }) => id));
      expect(page.total).toBe(25);
      more = page.next !== null;
      after = page.next ?? undefined;
    }
    expect(paged).toEqual(whole.map(({ id }) => id));
    if (sort === 'published')
      expect(whole.map(({ publishedAt }) => publishedAt)).toEqual(
        whole.map(({ publishedAt }) => publishedAt).toSorted((a, b) => b.getTime() - a.getTime()),
      );
    if (sort === 'deadline') {
      const times = whole.map(({ deadlineAt }) => deadlineAt?.getTime() ?? Infinity);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
  });
});

it('counts at most 1,000 tenders in lists, and the newest 10,000 in facets', async () => {
  const text = { text: { all: ['Deckelprobe'] } };
  const put = (many: number, source: string, day: string) =>
    across('a test makes many tenders', (tx) =>
      tx.execute(sql`
        with made as (insert into ${tenders} (id) select gen_random_uuid() from generate_series(1, ${many}::int) returning id)
        insert into ${tenderSearch} (tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys,
          bundeslaender, is_nationwide, cpv_divisions, document)
        select id, ${day}::timestamptz, 'infinity', false, 'infinity', true, array[${source}], '{BY}', false, '{45,90}',
          to_tsvector('german', 'Deckelprobe') from made`),
    );
  const totalNow = async () => (await listTenders(reader, asked({ filters: text, limit: 1 }))).total;
  await put(1, 'bund', '2001-01-01');
  await put(999, 'ted', '2002-01-01');
  expect(await totalNow()).toBe(1_000);
  await put(9_000, 'ted', '2003-01-01');
  expect(await totalNow()).toBeUndefined();
  expect(await facetsOf(reader, { filters: text })).toMatchObject({
    sources: [
      { key: 'ted', count: 9_999 },
      { key: 'bund', count: 1 },
    ],
    bundeslaender: [{ key: 'BY', count: 10_000 }],
    isCapped: false,
  });
  await put(1, 'ted', '2004-01-01');
  expect(await facetsOf(reader, { filters: text })).toMatchObject({
    sources: [{ key: 'ted', count: 10_000 }],
    cpvDivisions: [
      { key: '45', count: 10_000 },
      { key: '90', count: 10_000 },
    ],
    isCapped: true,
  });
  await across('a test clears up', (tx) =>
    tx.delete(tenders).where(
      inArray(
        tenders.id,
        tx
          .select({ id: tenderSearch.tenderId })
          .from(tenderSearch)
          .where(sql`${tenderSearch.publishedAt} < '2005-01-01'`),
      ),
    ),
  );
});

it('a search with an invalid cursor always fails with that error', async () => {
  const after: TenderList['after'] = ['published', '99999', '01a203a1-fd37-7685-85a7-29d9cff6b3fd'];
  for (let round = 0; round < 20; round += 1) {
    const failure = await listTenders(reader, asked({ after })).catch((error: { cause?: { code?: string } }) => error);
    expect(failure).toMatchObject({ cause: { code: expect.stringMatching(/^22/) } });
  }
});

it('a search that takes too long runs again with the word index only', async () => {
  const slow = (tx: Tx) =>
    tx.execute(sql`select pg_sleep(case current_setting('enable_indexscan') when 'on' then 20 else 0 end)`);
  const startedAt = performance.now();
  expect((await searching(reader, slow)).rows).toHaveLength(1);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  // Its settings end with its transaction.
  const { rows } = await ownScope(reader).tx((tx) => tx.execute(sql`show enable_indexscan`));
  expect(rows).toEqual([{ enable_indexscan: 'on' }]);
  await expect(searching(reader, (tx) => tx.execute(sql`select 1 / 0`))).rejects.toThrow();
});

describe('a tender', () => {
  it('names the latest notice of each other source', async () => {
    const noticeUuid = crypto.randomUUID();
    const lots: NoticeRecord['lots'] = [
      {
        id: 'LOT-0001',
        title: 'Los',
        description: 'Text',
        cpvCodes: ['90911000'],
        nutsCodes: ['DEA23'],
        valueCents: 7,
        currency: 'EUR',
      },
    ];
    const deadlines: NoticeRecord['deadlines'] = [
      { kind: 'participation', lotId: 'LOT-0001', at: '2998-01-01T22:59:59.999Z', isDateOnly: true },
      { kind: 'tender', lotId: null, at: '2999-01-01T00:00:00.000Z', isDateOnly: false },
    ];
    const here = noticeRecord({
      noticeUuid,
      description: 'Alles',
      lots,
      deadlines,
      documentsUrl: 'https://docs.example/1',
    });
    const there = noticeRecord({
      noticeUuid,
      sourcePortal: 'ted',
      noticeKey: '1-2026',
      sourceNoticeId: '1-2026',
      publicationNumber: '1-2026',
    });
    const { tenderIds } = await store(here);
    await store(there);
    const detail = await getTender(reader, tenderIds[0] ?? '');
    expect(detail).toMatchObject({
      id: tenderIds[0],
      title: here.title,
      sourcePortal: 'oeffentlichevergabe',
      deadlineAt: new Date('2998-01-01T22:59:59.999Z'),
      deadlineIsDateOnly: true,
      deadlines: deadlines.map((deadline) => ({ ...deadline, at: new Date(deadline.at) })),
      lots,
      documentsUrl: 'https://docs.example/1',
      triage: { read: false, favorite: false },
    });
    expect(detail.alsoAt).toEqual([
      {
        sourcePortal: 'ted',
        sourceNoticeId: '1-2026',
        sourceUrl: there.sourceUrl,
        publishedAt: new Date(there.publishedAt ?? ''),
      },
    ]);
  });

  it.each(['getTender', 'triage'])('is 404 if it does not exist: %s', async (what) => {
    const id = crypto.randomUUID();
    await expect(
      what === 'triage' ? triageTenders(reader, [id], { read: true }) : getTender(reader, id),
    ).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('is found by its old id after a merge', async () => {
    const [one, two] = [noticeRecord({ sourcePortal: 'ted' }), noticeRecord()];
    const {
      tenderIds: [survivor],
    } = await store(one);
    const {
      tenderIds: [merged],
    } = await store(two);
    const ctx = await signedIn(await make.user());
    await store(
      noticeRecord({
        noticeUuid: one.noticeUuid,
        noticeKey: 'x',
        changes: { noticeUuid: two.noticeUuid ?? '', version: 1, publicationNumber: null },
      }),
    );
    expect(await getTender(ctx, merged ?? '')).toMatchObject({ id: survivor });
    expect(await triageTenders(ctx, [merged ?? '', survivor ?? ''], { favorite: true })).toMatchObject([
      { id: merged, favorite: true },
      { id: survivor, favorite: true },
    ]);
    expect((await find(ctx, { triage: { favorite: true } })).map(({ id }) => id)).toEqual([survivor]);
  });
});

describe('triage', () => {
  it('of several tenders is all or nothing', async () => {
    const ctx = await signedIn(await make.user());
    const {
      tenderIds: [id = ''],
    } = await store(noticeRecord());
    await expect(triageTenders(ctx, [id, crypto.randomUUID()], { read: true })).rejects.toMatchObject({
      kind: 'not_found',
    });
    expect((await getTender(ctx, id)).triage).toEqual({ read: false, favorite: false });
  });

  it('keeps every mark of concurrent calls', async () => {
    const ctx = await signedIn(await make.user());
    const { tenderIds } = await store(...Array.from({ length: 20 }, () => noticeRecord()));
    await Promise.all([
      triageTenders(ctx, tenderIds, { read: true }),
      triageTenders(ctx, tenderIds.toReversed(), { favorite: true }),
      triageTenders(ctx, tenderIds, {}),
    ]);
    for (const id of tenderIds) expect((await getTender(ctx, id)).triage).toEqual({ read: true, favorite: true });
  });

  it('is not lost while tenders are merged', async () => {
    const ctx = await signedIn(await make.user());
    for (let n = 0; n < 10; n += 1) {
      const [one, two] = [noticeRecord({ sourcePortal: 'ted' }), noticeRecord()];
      const {
        tenderIds: [survivor = ''],
      } = await store(one);
      const {
        tenderIds: [merged = ''],
      } = await store(two);
      const changes = { noticeUuid: two.noticeUuid ?? '', version: 1, publicationNumber: null };
      await Promise.all([
        store(noticeRecord({ noticeUuid: one.noticeUuid, noticeKey: crypto.randomUUID(), changes })),
        triageTenders(ctx, [merged], { favorite: true }),
        triageTenders(ctx, [survivor], { read: true }),
      ]);
      expect((await getTender(ctx, merged)).triage).toEqual({ read: true, favorite: true });
    }
  });

  it('is deleted with the tender', async () => {
    const ctx = await signedIn(await make.user());
    const { tenderIds } = await store(noticeRecord());
    await triageTenders(ctx, tenderIds, { favorite: true });
    await across('a test', (tx) => tx.delete(tenders).where(inArray(tenders.id, tenderIds)));
    expect(await find(ctx, { triage: { favorite: true } })).toEqual([]);
  });
});

describe('a personal feed', () => {
  const address = () => `https://feed.example/${crypto.randomUUID()}`;
  const register = (ctx: UserContext, url: string, scope: 'personal' | 'platform' = 'personal') =>
    createFeed(ctx, NewRssFeed.parse({ url, scope }));
  const item = (sourcePortal: string, overrides: Partial<NoticeRecord> = {}) =>
    noticeRecord({
      sourcePortal,
      noticeUuid: null,
      form: null,
      title: `Geheimtipp ${crypto.randomUUID()}`,
      ...overrides,
    });

  it('shows its tenders only to its owner in every query, until a public source lists them', async () => {
    const owner = await signedIn(await make.user({ role: 'ADMIN' }));
    const others = [
      await signedIn(await make.user({ tenantId: owner.tenantId, role: 'ADMIN' })),
      await signedIn(await make.user({ role: 'ADMIN' })),
      await signedIn(await make.user({ role: 'SUPER_ADMIN' })),
    ];
    const { sourceKey } = await register(owner, address());
    const publicationNumber = '424242-2026';
    const {
      tenderIds: [id = ''],
    } = await store(item(sourceKey, { publicationNumber, cpvCodes: ['24000000'], bundeslaender: ['SL'] }));
    const filters = { text: readSearchText('Geheimtipp') };
    const queries = {
      list: async (ctx: UserContext) => (await find(ctx, { filters })).length,
      total: async (ctx: UserContext) => (await listTenders(ctx, asked({ filters, limit: 1 }))).total,
      bySource: async (ctx: UserContext) => (await find(ctx, { filters: { sources: [sourceKey] } })).length,
      facets: async (ctx: UserContext) => (await facetsOf(ctx, { filters })).sources.length,
      detail: async (ctx: UserContext) =>
        getTender(ctx, id).then(
          () => 1,
          () => 0,
        ),
      triage: async (ctx: UserContext) =>
        triageTenders(ctx, [id], { read: true }).then(
          () => 1,
          () => 0,
        ),
      sources: async (ctx: UserContext) => (await listSources(ctx)).filter(({ key }) => key === sourceKey).length,
      feeds: async (ctx: UserContext) => (await listFeeds(ctx)).filter((feed) => feed.sourceKey === sourceKey).length,
      rows: (ctx: UserContext) => ownScope(ctx).read((db) => db.$count(tenders, eq(tenders.id, id))),
      notices: (ctx: UserContext) =>
        ownScope(ctx).read((db) => db.$count(tenderNotices, eq(tenderNotices.tenderId, id))),
      search: (ctx: UserContext) =>
        ownScope(ctx).read(
          async (db) =>
            (await db.$count(tenderSearch, eq(tenderSearch.tenderId, id))) + (await db.$count(personalTenderSearch)),
        ),
      registrations: (ctx: UserContext) =>
        ownScope(ctx).read((db) => db.$count(rssFeeds, eq(rssFeeds.sourceKey, sourceKey))),
      // Without an account in the scope, no personal tender is visible, not even to its owner.
      tenantRows: async (ctx: UserContext) =>
        Number(ctx !== owner) * (await ctx.read((db) => db.$count(tenders, eq(tenders.id, id)))) +
        Number(ctx === owner),
    };
    for (const [name, query] of Object.entries(queries)) {
      expect([name, await query(owner)]).toEqual([name, 1]);
      for (const other of others) expect([name, await query(other)]).toEqual([name, 0]);
    }
    expect(await owner.read((db) => db.$count(tenders, eq(tenders.id, id)))).toBe(0);

    await store(noticeRecord({ sourcePortal: 'ted', publicationNumber, title: 'Geheimtipp für alle' }));
    for (const other of others) {
      expect(await find(other, { filters })).toMatchObject([{ id, title: 'Geheimtipp für alle', sourcePortal: 'ted' }]);
      expect((await getTender(other, id)).alsoAt).toEqual([]);
      expect(await find(other, { filters: { sources: [sourceKey] } })).toEqual([]);
      expect(
        await ownScope(other).read((db) =>
          db.$count(tenderNotices, and(eq(tenderNotices.tenderId, id), eq(tenderNotices.sourceKey, sourceKey))),
        ),
      ).toBe(0);
    }
    expect((await getTender(owner, id)).alsoAt).toMatchObject([{ sourcePortal: sourceKey }]);
    expect(await find(owner, { filters: { sources: [sourceKey] } })).toMatchObject([{ id }]);
    // Marks from before the publication are kept.
    expect((await getTender(owner, id)).triage).toEqual({ read: true, favorite: false });
  });

  it('is one source for all its registrations', async () => {
    const url = address();
    const [one, two] = [await signedIn(await make.user()), await signedIn(await make.user())];
    const feeds = await Promise.all([register(one, url), register(two, `${url}#top`)]);
    expect(new Set(feeds.map(({ sourceKey }) => sourceKey)).size).toBe(1);
    expect(new Set(feeds.map(({ id }) => id)).size).toBe(2);
    const {
      tenderIds: [id = ''],
    } = await store(item(feeds[0]?.sourceKey ?? ''));
    for (const ctx of [one, two]) expect(await getTender(ctx, id)).toMatchObject({ id });
    await deleteFeed(one, feeds[0]?.id ?? '');
    await expect(getTender(one, id)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await getTender(two, id)).toMatchObject({ id });
  });

  it('is registered once per scope, even with concurrent calls', async () => {
    const url = address();
    const admin = await signedIn(await make.user({ role: 'ADMIN' }));
    const outcomes = await Promise.allSettled(
      (['personal', 'personal', 'platform', 'platform', 'personal'] as const).map((scope) =>
        register(admin, url, scope),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'FEED_EXISTS' });
    expect((await listFeeds(admin)).map(({ scope }) => scope).toSorted()).toEqual(['personal', 'platform']);
  });

  it('of the platform shows its tenders to every user', async () => {
    const admin = await signedIn(await make.user({ role: 'ADMIN' }));
    const feed = await register(admin, address(), 'platform');
    const {
      tenderIds: [id = ''],
    } = await store(item(feed.sourceKey, { title: 'Gemeindeblatt' }));
    expect(await getTender(reader, id)).toMatchObject({ sourcePortal: feed.sourceKey });
    expect(await facetsOf(reader, { filters: { text: { all: ['Gemeindeblatt'] } } })).toMatchObject({
      sources: [{ key: feed.sourceKey, count: 1 }],
    });
    expect(await find(reader, { filters: { text: { all: ['Gemeindeblatt'] }, includeRss: false } })).toEqual([]);
    await deleteFeed(admin, feed.id);
    expect(await getTender(reader, id)).toMatchObject({ sourcePortal: feed.sourceKey });
  });

  it('has its limit', async () => {
    const ctx = await signedIn(await make.user());
    for (let n = 0; n < 50; n += 1) await register(ctx, address());
    await expect(register(ctx, address())).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    const own = (await listFeeds(ctx)).find(({ scope }) => scope === 'personal');
    await expect(register(ctx, own?.url ?? '')).rejects.toMatchObject({ code: 'FEED_EXISTS' });
  });
});

it('a search agrees with a plain check of each tender', async () => {
  const vocabulary = ['apfel', 'birne', 'kirsche', 'pflaume'] as const;
  const codes = ['15100000', '15200000', '33100000'] as const;
  const lands = ['NW', 'BY', 'HH'] as const;
  const made = Array.from({ length: 60 }, (_, n) => ({
    words: vocabulary.filter((_word, w) => (n >> w) & 1),
    code: codes[n % 3] ?? codes[0],
    land: lands[(n >> 2) % 3] ?? lands[0],
    isNationwide: n % 11 === 0,
    valueCents: n % 4 === 0 ? null : n * 100_000,
  }));
  await store(
    ...made.map(({ words, code, land, isNationwide, valueCents }, n) =>
      noticeRecord({
        title: `Obstkorb ${n} ${words.join(' ')}`,
        cpvCodes: [code],
        bundeslaender: isNationwide ? [] : [land],
        isNationwide,
        valueCents,
        currency: valueCents === null ? null : 'EUR',
      }),
    ),
  );
  const some = <Value>(values: readonly Value[]) => array(constantFrom(...values), { maxLength: 2 });
  await assert(
    asyncProperty(
      record({
        all: some(vocabulary),
        any: some(vocabulary),
        none: some(vocabulary),
        prefixes: some(['15', '151', '33']),
        laender: some(lands),
        combine: constantFrom('all', 'any'),
        min: constantFrom(null, 1, 30),
      }),
      async ({ all, any, none, prefixes, laender, combine, min }) => {
        const filters = {
          text: { all: [...all, ...(combine === 'all' ? ['obstkorb'] : [])], any, none },
          cpv: { prefixes },
          region: { laender },
          combine,
          value: { min: min && min * 1_000 },
          buyer: { any: ['Musterhausen'] },
        };
        const expected = made.flatMap((one, n) => {
          const hasWords =
            all.every((word) => one.words.includes(word)) &&
            (any.length === 0 || any.some((word) => one.words.includes(word)));
          const hasCode = prefixes.length === 0 || prefixes.some((prefix) => one.code.startsWith(prefix));
          const [asksWords, asksCode] = [all.length + any.length > 0, prefixes.length > 0];
          const either = combine === 'any' && asksWords && asksCode ? hasWords || hasCode : hasWords && hasCode;
          const isThere = laender.length === 0 || one.isNationwide || laender.includes(one.land);
          const isWorth = min === null || one.valueCents === null || one.valueCents >= min * 100_000;
          return either && isThere && isWorth && !none.some((word) => one.words.includes(word)) ? [n] : [];
        });
        const found = (await find(reader, { filters }))
          .flatMap(({ title }) => /^Obstkorb (\d+)/.exec(title)?.[1] ?? [])
          .map(Number);
        expect(found.toSorted((a, b) => a - b)).toEqual(expected);
      },
    ),
    { numRuns: 40 },
  );
});
