import { zstdDecompressSync } from 'node:zlib';
import { eq, inArray, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import type { Tx } from '@portal/db/open';
import { tenderNotices, tenderPayloads, tenders } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { newId } from '@portal/domain/ids';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { testRuntime } from '@portal/testing/runtime';
import { noticeRecord } from '@portal/testing/tender-notices';
import { followDeadlines } from './settle-tenders.ts';
import { missingNotices, noteMissingNotices, storeNotices } from './store-notices.ts';

const { runtime, system, make } = await testRuntime();
const across = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => runtime.database.acrossTenants('a test reads', work);
const store = (...records: NoticeRecord[]) => storeNotices(system(), records);

/** Registers a feed for an account or for the platform. Returns its source key. */
async function feed(owner: { id: string; tenantId: string } | null): Promise<string> {
  const sourceKey = `rss:${newId()}`;
  await across(async (tx) => {
    await tx.insert(tenderSources).values({ key: sourceKey, url: `https://feed.example/${sourceKey}` });
    await tx.insert(rssFeeds).values({
      id: newId(),
      tenantId: owner?.tenantId ?? null,
      userId: owner?.id ?? null,
      url: `https://feed.example/${sourceKey}`,
      sourceKey,
    });
  });
  return sourceKey;
}

const feedItem = (sourcePortal: string, overrides: Partial<NoticeRecord> = {}) =>
  noticeRecord({ sourcePortal, noticeUuid: null, form: null, noticeType: null, subtype: null, ...overrides });

const noticesOf = (...records: NoticeRecord[]) =>
  across((tx) =>
    tx
      .select()
      .from(tenderNotices)
      .where(
        inArray(
          tenderNotices.noticeKey,
          records.map(({ noticeKey }) => noticeKey),
        ),
      ),
  );
async function tenderOf(record: NoticeRecord): Promise<string> {
  const [notice] = await noticesOf(record);
  if (!notice) throw new Error('not stored');
  return notice.tenderId;
}
const found = (tenderId: string) =>
  across(async (tx) => {
    const [row] = await tx.select().from(tenderSearch).where(eq(tenderSearch.tenderId, tenderId));
    return row;
  });
const shownTitle = (tenderId: string) =>
  across(async (tx) => {
    const rows = await tx
      .select({ title: tenderNotices.title })
      .from(tenderNotices)
      .where(sql`${tenderNotices.tenderId} = ${tenderId} and ${tenderNotices.isPrimary}`);
    return rows.map(({ title }) => title);
  });
const writes = () =>
  across(async (tx) => {
    const { rows } = await tx.execute<{ xids: string }>(sql`
      select string_agg(x, ' ' order by x) as xids from (
        select xmin::text || id as x from tender_notices union all select xmin::text || id from tenders
        union all select xmin::text || tender_id from tender_search union all select xmin::text || notice_id from tender_payloads) rows`);
    return rows[0]?.xids;
  });

describe('notices', () => {
  it('are stored with their original, and found', async () => {
    const record = noticeRecord({
      title: 'Reinigung',
      lots: [
        {
          id: 'LOT-1',
          title: 'Glas "quoted" \\ {und}, mehr',
          description: null,
          cpvCodes: [],
          nutsCodes: [],
          valueCents: 5,
          currency: 'EUR',
        },
      ],
      valueCents: 9_007_199_254_740_991,
      currency: 'EUR',
    });
    const result = await store(record);
    expect(result).toMatchObject({ added: 1, changed: 0, unchanged: 0, refused: 0 });
    const [notice] = await noticesOf(record);
    const { raw, sourcePortal, changes: _changes, publishedAt, ...rest } = record;
    expect(notice).toMatchObject({
      ...rest,
      sourceKey: sourcePortal,
      publishedAt: new Date(publishedAt ?? ''),
      isPrimary: true,
      isPublic: true,
    });
    expect(result.tenderIds).toEqual([notice?.tenderId]);
    expect(await found(notice?.tenderId ?? '')).toMatchObject({ isOpen: true, sourceKeys: ['oeffentlichevergabe'] });
    const [payload] = await across((tx) =>
      tx
        .select()
        .from(tenderPayloads)
        .where(eq(tenderPayloads.noticeId, notice?.id ?? '')),
    );
    expect(payload?.format).toBe('eforms');
    expect(zstdDecompressSync(payload?.body ?? Buffer.alloc(0)).toString()).toBe(raw.body);
  });

  it('write nothing if they are unchanged', async () => {
    const records = Array.from({ length: 600 }, () => noticeRecord());
    expect(await store(...records)).toMatchObject({ added: 600 });
    const before = await writes();
    expect(await store(...records)).toEqual({
      added: 0,
      changed: 0,
      unchanged: 600,
      refused: 0,
      withheld: 0,
      tenderIds: [],
    });
    expect(await writes()).toBe(before);
  });

  it('are replaced by a later version, never by an earlier one', async () => {
    const one = noticeRecord({ title: 'Erste Fassung' });
    const two = noticeRecord({ ...one, noticeVersion: 2, title: 'Zweite Fassung', hash: 'two' });
    await store(one);
    const tenderId = await tenderOf(one);
    expect(await store(two)).toMatchObject({ changed: 1, tenderIds: [tenderId] });
    expect(await store(one)).toMatchObject({ refused: 1, tenderIds: [] });
    expect(await shownTitle(tenderId)).toEqual(['Zweite Fassung']);
  });

  it('keep the later of two versions in one batch', async () => {
    const one = noticeRecord({ title: 'Erste Fassung' });
    const two = noticeRecord({ ...one, noticeVersion: 2, title: 'Zweite Fassung', hash: 'two' });
    expect(await store(one, two)).toMatchObject({ added: 1, changed: 1 });
    expect(await shownTitle(await tenderOf(one))).toEqual(['Zweite Fassung']);
  });

  it('without a date keep the time when they were first seen', async () => {
    const one = noticeRecord({ publishedAt: null });
    const two = noticeRecord({ ...one, title: 'Neuer Titel', hash: 'two' });
    await store(one);
    const [before] = await noticesOf(one);
    expect(Date.now() - (before?.publishedAt.getTime() ?? 0)).toBeLessThan(60_000);
    expect(await store(two)).toMatchObject({ changed: 1 });
    expect(await noticesOf(one)).toMatchObject([{ title: 'Neuer Titel', publishedAt: before?.publishedAt }]);
  });

  it('that the database rejects are left out alone', async () => {
    const records = Array.from({ length: 9 }, () => noticeRecord());
    const bad = noticeRecord({ publishedAt: '2026-13-45' });
    expect(await store(...records.slice(0, 4), bad, ...records.slice(4))).toMatchObject({ added: 9, refused: 1 });
    expect(await noticesOf(bad)).toEqual([]);
  });

  it('of maximum size are stored', async () => {
    const words = (letters: string, length: number) =>
      Array.from({ length: length / 8 }, (_, n) => letters + n.toString(36).padStart(6, 'x')).join(' ');
    const record = noticeRecord({
      title: 'ö'.repeat(500),
      description: words('ä', 10_000),
      cpvCodes: Array.from({ length: 100 }, (_, n) => `909${String(n).padStart(5, '0')}`),
      lots: Array.from({ length: 20 }, (_, n) => ({
        id: `LOT-${n}`,
        title: null,
        description: words(`ß${n}`, 10_000),
        cpvCodes: [],
        nutsCodes: [],
        valueCents: null,
        currency: null,
      })),
    });
    expect(await store(record)).toMatchObject({ added: 1, refused: 0 });
  });

  it('are stored once by concurrent workers, and so are their tenders', async () => {
    const uuid = newId();
    const both = [
      noticeRecord({ noticeUuid: uuid }),
      noticeRecord({ noticeUuid: uuid, sourcePortal: 'ted', noticeKey: newId() }),
    ];
    await Promise.all([...both, ...both].map((record) => store(record)));
    const notices = await noticesOf(...both);
    expect(notices).toHaveLength(2);
    expect(new Set(notices.map(({ tenderId }) => tenderId)).size).toBe(1);
  });
});

describe('a procurement', () => {
  it.each([
    ['the notice’s own id', { noticeUuid: '0b6d0000-0000-4000-8000-0000000000a1' }],
    ['its number in the Official Journal', { publicationNumber: '700123-2026', noticeUuid: null }],
    ['its number at service.bund.de', { bundId: '25599482', noticeUuid: null }],
    ['its id at a portal', { portalIds: ['cosinex:CXP4Y6Z1'], noticeUuid: null }],
    ['title, buyer and deadline', { title: 'Neubau der Kindertagesstätte Sonnenschein', noticeUuid: null }],
  ])('of two sources is one tender by %s', async (_, keys) => {
    const theirs = noticeRecord({ ...keys, sourcePortal: 'bund', noticeKey: newId() });
    await store(theirs);
    const ours = noticeRecord({ ...keys, sourcePortal: 'ted', noticeKey: newId(), title: theirs.title });
    const { tenderIds } = await store(ours);
    expect(tenderIds).toEqual([await tenderOf(theirs)]);
    expect(await found(await tenderOf(theirs))).toMatchObject({ sourceKeys: ['bund', 'ted'] });
    expect(await shownTitle(await tenderOf(theirs))).toEqual([ours.title]);
  });

  it.each([
    [
      'with another deadline',
      { deadlines: [{ kind: 'tender', lotId: null, at: '2999-01-01T00:00:00Z', isDateOnly: true }] },
    ],
    ['without a deadline', { deadlines: [] }],
    ['of another buyer', { buyerName: 'Stadt Neustadt' }],
    ['of another form', { form: 'result' }],
    ['of the same source', { sourcePortal: 'ted' }],
  ] satisfies [string, Partial<NoticeRecord>][])('with the same title is another tender %s', async (_, other) => {
    const title = `Winterdienst auf allen Wegen ${newId()}`;
    const one = noticeRecord({ title, sourcePortal: 'ted', noticeUuid: null });
    const two = noticeRecord({ title, sourcePortal: 'bund', noticeUuid: null, ...other });
    await store(one);
    await store(two);
    expect(await tenderOf(two)).not.toBe(await tenderOf(one));
  });

  it('is not joined by similarity to two others', async () => {
    const title = `Lieferung von Streusalz ${newId()}`;
    const lots = [1, 2].map(() => noticeRecord({ title }));
    await store(...lots);
    const item = noticeRecord({ title, sourcePortal: 'bund', noticeUuid: null });
    await store(item);
    expect(new Set(await Promise.all([...lots, item].map(tenderOf))).size).toBe(3);
  });

  it('keeps planning, call and award of one procedure apart', async () => {
    const procedureUuid = newId();
    const forms = (['planning', 'competition', 'result'] as const).map((form) => noticeRecord({ form, procedureUuid }));
    await store(...forms);
    expect(new Set(await Promise.all(forms.map(tenderOf))).size).toBe(3);
  });
});

describe('a correction', () => {
  const triageOf = (tenderId: string) =>
    across((tx) => tx.select().from(tenderTriage).where(eq(tenderTriage.tenderId, tenderId)));

  it.each([
    ['after', (one: NoticeRecord, two: NoticeRecord) => [[one], [two]]],
    ['before', (one: NoticeRecord, two: NoticeRecord) => [[two], [one]]],
    ['together with', (one: NoticeRecord, two: NoticeRecord) => [[one, two]]],
  ])('stored %s the corrected notice replaces it', async (_, inTurn) => {
    const one = noticeRecord({ title: 'Frist 1. Dezember' });
    const two = noticeRecord({
      title: 'Frist 8. Dezember',
      isCorrection: true,
      changes: { noticeUuid: one.noticeUuid ?? '', version: 1, publicationNumber: null },
    });
    for (const records of inTurn(one, two)) await store(...records);
    expect(await tenderOf(two)).toBe(await tenderOf(one));
    expect(await shownTitle(await tenderOf(one))).toEqual(['Frist 8. Dezember']);
  });

  it('keeps the id and the triage', async () => {
    const one = noticeRecord();
    await store(one);
    const tenderId = await tenderOf(one);
    const user = await make.user();
    await across((tx) =>
      tx.insert(tenderTriage).values({ tenantId: user.tenantId, userId: user.id, tenderId, isFavorite: true }),
    );
    const two = noticeRecord({ changes: { noticeUuid: one.noticeUuid ?? '', version: null, publicationNumber: null } });
    await store(two);
    expect(await tenderOf(two)).toBe(tenderId);
    expect(await triageOf(tenderId)).toMatchObject([{ userId: user.id, isFavorite: true }]);
  });

  it('that cancels closes the call, and the tender stays', async () => {
    const one = noticeRecord();
    await store(one);
    const tenderId = await tenderOf(one);
    await store(
      noticeRecord({
        isCorrection: true,
        isCancelled: true,
        changes: { noticeUuid: one.noticeUuid ?? '', version: 1, publicationNumber: null },
      }),
    );
    expect(await found(tenderId)).toMatchObject({ isOpen: false });
  });

  it('finds a notice of another source by its number in the Official Journal', async () => {
    const one = noticeRecord({ publicationNumber: '12345-2026', sourcePortal: 'ted' });
    const two = noticeRecord({ changes: { noticeUuid: null, version: null, publicationNumber: '12345-2026' } });
    await store(one);
    await store(two);
    expect(await tenderOf(two)).toBe(await tenderOf(one));
  });

  it('merges two tenders and their triage', async () => {
    const [one, other] = [
      noticeRecord({ sourcePortal: 'ted', title: 'Eins ist alt' }),
      noticeRecord({ title: 'Zwei ist neu' }),
    ];
    await store(one);
    await store(other);
    const [survivor, merged] = [await tenderOf(one), await tenderOf(other)];
    const user = await make.user();
    const note = { tenantId: user.tenantId, userId: user.id };
    await across((tx) =>
      tx.insert(tenderTriage).values([
        { ...note, tenderId: survivor, isRead: true },
        { ...note, tenderId: merged, isFavorite: true },
      ]),
    );
    await store(
      noticeRecord({
        noticeUuid: one.noticeUuid,
        noticeKey: newId(),
        changes: { noticeUuid: other.noticeUuid ?? '', version: null, publicationNumber: null },
      }),
    );
    expect(await tenderOf(other)).toBe(survivor);
    expect(await triageOf(survivor)).toMatchObject([{ isRead: true, isFavorite: true }]);
    expect(await triageOf(merged)).toEqual([]);
    expect(await found(merged)).toBeUndefined();
    expect(
      await across((tx) => tx.select({ mergedInto: tenders.mergedInto }).from(tenders).where(eq(tenders.id, merged))),
    ).toEqual([{ mergedInto: survivor }]);
  });
});

describe('a notice that its source no longer lists', () => {
  const day = '2026-10-01';
  const readWith = async (...records: NoticeRecord[]) => {
    const missing = await missingNotices(system(), {
      sourcePortal: 'oeffentlichevergabe',
      sourceDay: day,
      shownKeys: records.map(({ noticeKey }) => noticeKey),
    });
    return across((tx) => noteMissingNotices(tx, missing));
  };

  it('is withdrawn after two reads, but not deleted, and restored when it is listed again', async () => {
    const [stays, goes] = [noticeRecord({ sourceDay: day }), noticeRecord({ sourceDay: day })];
    await store(stays, goes);
    expect(await readWith(stays)).toBe(0);
    expect(await found(await tenderOf(goes))).toMatchObject({ isOpen: true });
    expect(await readWith(stays)).toBe(1);
    expect(await readWith(stays)).toBe(0);
    expect(await found(await tenderOf(goes))).toMatchObject({ isOpen: false });
    expect(await found(await tenderOf(stays))).toMatchObject({ isOpen: true });
    expect(await store(goes)).toMatchObject({ unchanged: 1 });
    expect(await found(await tenderOf(goes))).toMatchObject({ isOpen: true });
    expect(await readWith(stays)).toBe(0);
  });

  it('leaves the tender open while another source lists it', async () => {
    const noticeUuid = newId();
    const ours = noticeRecord({ noticeUuid, sourceDay: day, title: 'Von hier' });
    await store(ours);
    await store(noticeRecord({ noticeUuid, sourcePortal: 'ted', noticeKey: newId(), title: 'Von dort' }));
    await readWith();
    await readWith();
    expect(await found(await tenderOf(ours))).toMatchObject({ isOpen: true });
    expect(await shownTitle(await tenderOf(ours))).toEqual(['Von dort']);
  });
});

describe('a personal feed', () => {
  it('shows tenders only to its owners until a public source lists them', async () => {
    const sourceKey = await feed(await make.user());
    const item = feedItem(sourceKey, { publicationNumber: '98765-2026', title: 'Nur im Newsletter' });
    await store(item);
    const tenderId = await tenderOf(item);
    const own = () =>
      across((tx) => tx.select().from(personalTenderSearch).where(eq(personalTenderSearch.tenderId, tenderId)));
    expect(await found(tenderId)).toBeUndefined();
    expect(await own()).toMatchObject([{ onlySource: sourceKey, isOpen: true }]);
    await store(noticeRecord({ sourcePortal: 'ted', publicationNumber: '98765-2026', title: 'Für alle' }));
    expect(await found(tenderId)).toMatchObject({ sourceKeys: ['ted'] });
    expect(await own()).toEqual([]);
    expect(await shownTitle(tenderId)).toEqual(['Für alle']);
  });

  it('does not change a tender of a public source', async () => {
    const call = noticeRecord({ sourcePortal: 'ted', publicationNumber: '55555-2026', title: 'Das Original' });
    await store(call);
    const item = feedItem(await feed(await make.user()), {
      publicationNumber: '55555-2026',
      title: 'Abgesagt!',
      isCancelled: true,
    });
    await store(item);
    expect(await tenderOf(item)).toBe(await tenderOf(call));
    expect(await shownTitle(await tenderOf(call))).toEqual(['Das Original']);
    expect(await found(await tenderOf(call))).toMatchObject({ sourceKeys: ['ted'], isOpen: true });
  });

  it('neither merges two tenders nor joins those of another feed', async () => {
    const calls = [
      noticeRecord({ portalIds: ['cosinex:CXAAAAAAAA'] }),
      noticeRecord({ portalIds: ['cosinex:CXBBBBBBBB'] }),
    ];
    await store(...calls);
    const [mine, theirs] = [await feed(await make.user()), await feed(await make.user())];
    const forged = feedItem(mine, { portalIds: ['cosinex:CXAAAAAAAA', 'cosinex:CXBBBBBBBB'] });
    await store(forged);
    const secret = feedItem(theirs, { publicationNumber: '11111-2026' });
    await store(secret);
    const guess = feedItem(mine, { publicationNumber: '11111-2026' });
    await store(guess);
    const ids = await Promise.all([...calls, forged, secret, guess].map(tenderOf));
    expect(new Set(ids).size).toBe(5);
    const call = noticeRecord({ sourcePortal: 'ted', publicationNumber: '11111-2026' });
    await store(call);
    expect(new Set(await Promise.all([secret, guess, call].map(tenderOf))).size).toBe(1);
  });

  it('brings no other notice to the public tender it has joined', async () => {
    const call = noticeRecord({ sourcePortal: 'bund', bundId: '47110001' });
    await store(call);
    const forged = feedItem(await feed(await make.user()), {
      bundId: '47110001',
      publicationNumber: '700999-2026',
      portalIds: ['cosinex:CXFORGED1'],
    });
    await store(forged);
    expect(await tenderOf(forged)).toBe(await tenderOf(call));
    const others = [
      noticeRecord({ sourcePortal: 'ted', publicationNumber: '700999-2026' }),
      noticeRecord({ portalIds: ['cosinex:CXFORGED1'] }),
    ];
    for (const other of others) await store(other);
    expect(new Set(await Promise.all([call, ...others].map(tenderOf))).size).toBe(3);
  });

  it('that becomes a platform feed makes the tenders public that it still lists', async () => {
    const sourceKey = await feed(await make.user());
    const [still, before] = [feedItem(sourceKey), feedItem(sourceKey)];
    await store(still, before);
    await across((tx) =>
      tx.insert(rssFeeds).values({ id: newId(), url: `https://feed.example/${sourceKey}`, sourceKey }),
    );
    expect(await store(still)).toMatchObject({ changed: 1 });
    expect(await found(await tenderOf(still))).toBeDefined();
    expect(await found(await tenderOf(before))).toBeUndefined();
    await across((tx) => tx.delete(rssFeeds).where(eq(rssFeeds.sourceKey, sourceKey)));
    expect(await store(still)).toMatchObject({ unchanged: 1 });
    expect(await found(await tenderOf(still))).toBeDefined();
  });
});

describe('deadlines', () => {
  const at = (seconds: number, isDateOnly = false) => ({
    kind: 'tender' as const,
    lotId: null,
    at: new Date(Date.now() + seconds * 1_000).toISOString(),
    isDateOnly,
  });

  it('are ordered by the earliest in the future', async () => {
    const [past, next, last] = [at(-3_600), at(3_600, true), at(7_200)];
    const record = noticeRecord({ deadlines: [last, past, next] });
    await store(record);
    expect(await found(await tenderOf(record))).toMatchObject({
      deadlineAt: new Date(next.at),
      deadlineIsDateOnly: true,
      openUntil: new Date(last.at),
      isOpen: true,
    });
  });

  it('close a tender with the last of them, and pass one by one', async () => {
    const [soon, later] = [at(-1), at(3_600)];
    const [over, goesOn] = [noticeRecord({ deadlines: [soon] }), noticeRecord({ deadlines: [soon, later] })];
    await store(over, goesOn);
    const ids = await Promise.all([over, goesOn].map(tenderOf));
    // The state before the first deadline.
    await across((tx) =>
      tx
        .update(tenderSearch)
        .set({ isOpen: true, deadlineAt: new Date(soon.at) })
        .where(inArray(tenderSearch.tenderId, ids)),
    );
    await across((tx) => followDeadlines(tx, 1_000));
    expect(await found(ids[0] ?? '')).toMatchObject({ isOpen: false, deadlineAt: new Date(soon.at) });
    expect(await found(ids[1] ?? '')).toMatchObject({ isOpen: true, deadlineAt: new Date(later.at) });
    expect(await across((tx) => followDeadlines(tx, 1_000))).toBe(0);
  });
});

describe('a source that users register', () => {
  it('adds at most 1,000 new notices a day, and still updates known ones', async () => {
    const key = await feed(await make.user());
    const items = Array.from({ length: 1_005 }, () => feedItem(key));
    expect(await store(...items)).toMatchObject({ added: 1_000, withheld: 5, refused: 0 });
    expect(await store(...items.slice(-8))).toMatchObject({ unchanged: 3, withheld: 5 });
    await across((tx) =>
      tx
        .update(tenderNotices)
        .set({ firstSeenAt: sql`now() - interval '25 hours'` })
        .where(eq(tenderNotices.sourceKey, key)),
    );
    expect(await store(...items.slice(-8))).toMatchObject({ unchanged: 3, added: 5, withheld: 0 });
    expect(await store(...Array.from({ length: 1_005 }, () => noticeRecord()))).toMatchObject({ added: 1_005 });
  });
});
