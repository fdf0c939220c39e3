import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Tx } from '@portal/db/open';
import { runs } from '@portal/db/schema/platform/operations';
import { tenderNotices, tenders as tenderRows } from '@portal/db/schema/tenders/notices';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import type { UserContext } from '@portal/platform/context';
import { runScope } from '@portal/platform/runs/scope';
import { addRun } from '@portal/platform/runs/start';
import { beginRun, endRun } from '@portal/platform/runs/state';
import { waitForRun } from '@portal/platform/runs/wait';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { canLimitFileSize, limitFileSize } from '@portal/testing/file-size-limit';
import {
  bundItem,
  eformsXml,
  type MadeUpNotice,
  madeUpNotice,
  rssFeed,
  tedJson,
} from '@portal/testing/made-up-notices';
import { testRuntime } from '@portal/testing/runtime';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { exportEntry, startTenderSources } from '@portal/testing/servers/tender-sources';
import { the } from '@portal/testing/the';
import { startTestWorker } from '@portal/testing/worker';
import { zipOf } from '@portal/testing/zip';
import { getRun } from '../../operations/get-run.ts';
import { tenders } from '../area.ts';
import { createFeed, listFeeds } from '../feeds.ts';
import { getTender } from '../get-tender.ts';
import { tenderHandlers } from '../handlers.ts';
import { readSource } from '../jobs.ts';
import { runSource } from '../sources.ts';
import { triageTender } from '../triage.ts';
import { parseDocumentsInSandbox } from './parse-in-sandbox.ts';
import { readTenderSource } from './read-source.ts';
import { startDueTenderSources } from './start-due-sources.ts';

const sources = await startTenderSources();
/** Accepts every connection and never answers. */
const silent = await startHttpServer(() => undefined);
const env = {
  ...sources.env,
  OUTBOUND_ALLOW_HOSTS: [sources, silent].map(({ origin }) => new URL(origin).host).join(','),
};
const { url, make, runtime, signedIn, system, config } = await testRuntime(env);
const startWorker = () =>
  startTestWorker(
    url,
    { handlers: tenderHandlers, concurrency: tenders.concurrency ?? {} },
    { env: { ...env, DATA_DIR: config.dataDir } },
  );
const worker = startWorker();
afterAll(async () => {
  await worker.stop();
  await sources.stop();
});
const across = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => runtime.database.acrossTenants('a test reads', work);

const operator = async (): Promise<UserContext> => ({
  ...(await signedIn(await make.user({ role: 'SUPER_ADMIN' }))),
  enqueue: worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }).enqueue,
});
/** Reads a source to the end. Returns the outcome of its run. */
async function readNow(key: string) {
  const ctx = await operator();
  const { runId } = await runSource(ctx, key);
  expect(await waitForRun(runScope(ctx, null), runId, 60)).toBe(true);
  const { state, error } = await getRun(ctx, runId);
  return { state, error };
}
const sourceRow = async (key: string) =>
  the((await across((tx) => tx.select().from(tenderSources).where(eq(tenderSources.key, key))))[0]);
const notices = () =>
  across((tx) =>
    tx
      .select({
        source: tenderNotices.sourceKey,
        key: tenderNotices.noticeKey,
        version: tenderNotices.noticeVersion,
        title: tenderNotices.title,
        tenderId: tenderNotices.tenderId,
        isCancelled: tenderNotices.isCancelled,
        missedReads: tenderNotices.missedReads,
        changedAt: tenderNotices.changedAt,
      })
      .from(tenderNotices)
      .orderBy(tenderNotices.sourceKey, tenderNotices.noticeKey),
  );
/** The last transaction that wrote each row: it stays the same for rows that are not written. */
const writes = () =>
  across(async (tx) => {
    const { rows } = await tx.execute(
      sql`select 'n', id::text, xmin::text from tender_notices union all select 't', id::text, xmin::text from tenders
        union all select 's', tender_id::text, xmin::text from tender_search
        union all select 'p', notice_id::text, xmin::text from tender_payloads order by 1, 2`,
    );
    return rows;
  });

const today = Temporal.Now.plainDateISO('Europe/Berlin');
const day = (before: number) => today.subtract({ days: before }).toString();
const yesterday = day(1);
const later = today.add({ days: 30 }).toString();
const announce = (n: number, changes: Partial<MadeUpNotice> = {}) =>
  madeUpNotice(n, { publishedOn: yesterday, deadlineDay: later, ...changes });

beforeEach(async () => {
  await across(async (tx) => {
    await tx.delete(tenderRows);
    await tx.delete(rssFeeds);
    await tx.delete(tenderSources);
    // No source is due unless a test makes it due.
    const keys = ['ted', 'oeffentlichevergabe', 'bund'];
    await tx.insert(tenderSources).values(keys.map((key) => ({ key, nextRunAt: sql`now() + interval '1 day'` })));
  });
});
afterEach(() => {
  sources.journal = { notices: [], faults: [], pageSize: 250, requests: [] };
  sources.days.clear();
  sources.exportAnswer = null;
  sources.exportRequests.length = 0;
  sources.feeds.clear();
  sources.feedRequests.length = 0;
});

/** Number of tenders in the open list. */
const open = async () => (await across((tx) => tx.execute(sql`select 1 from tender_search where is_open`))).rows.length;

describe('the national export', () => {
  it('is read day by day, with versions of a notice in order, and days without notices', async () => {
    const twice = announce(1);
    sources.days.set(yesterday, [
      exportEntry({ ...twice, version: 2, title: 'Die zweite Fassung' }),
      exportEntry(twice),
      exportEntry(announce(2, { id: '25601234' })),
    ]);
    sources.days.set(day(2), [exportEntry(announce(3, { publishedOn: day(2) }))]);
    expect(await readNow('oeffentlichevergabe')).toEqual({ state: 'succeeded', error: null });
    expect(sources.exportRequests).toEqual([7, 6, 5, 4, 3, 2, 1].map(day));
    expect((await notices()).map(({ version, title }) => [version, title]).toSorted()).toEqual(
      [
        [2, 'Die zweite Fassung'],
        [1, announce(2).title],
        [1, announce(3).title],
      ].toSorted(),
    );
    expect(await sourceRow('oeffentlichevergabe')).toMatchObject({ watermark: yesterday, error: null, newCount: 3 });
    expect((await sourceRow('oeffentlichevergabe')).nextRunAt?.getTime()).toBeGreaterThan(Date.now());
  });

  it('is read again from three days before, without writing unchanged notices', async () => {
    sources.days.set(
      yesterday,
      Array.from({ length: 20 }, (_, n) => exportEntry(announce(n))),
    );
    await readNow('oeffentlichevergabe');
    const before = await writes();
    expect(before.length).toBeGreaterThan(70);
    sources.exportRequests.length = 0;
    await readNow('oeffentlichevergabe');
    expect(await writes()).toEqual(before);
    expect(await sourceRow('oeffentlichevergabe')).toMatchObject({ newCount: 0 });
    const isSunday = today.dayOfWeek === 7;
    expect(sources.exportRequests).toHaveLength(isSunday ? 14 : 3);
    expect(sources.exportRequests.at(-1)).toBe(yesterday);
  });

  it('corrects in place and keeps triage; a cancelled tender leaves the open list', async () => {
    const reader = await signedIn(await make.user());
    const first = announce(1);
    sources.days.set(yesterday, [exportEntry(first)]);
    await readNow('oeffentlichevergabe');
    const id = the((await notices())[0]).tenderId;
    await triageTender(reader, id, { favorite: true, read: true });
    const correction = announce(101, {
      procedureId: first.procedureId,
      title: first.title,
      deadlineDay: today.add({ days: 40 }).toString(),
      changes: { notice: `${first.id}-01`, reason: 'cor-buy' },
    });
    sources.days.set(yesterday, [exportEntry(first), exportEntry(correction)]);
    await readNow('oeffentlichevergabe');
    expect(new Set((await notices()).map(({ tenderId }) => tenderId))).toEqual(new Set([id]));
    expect(await getTender(reader, id)).toMatchObject({
      triage: { read: true, favorite: true },
      deadlineAt: new Date(`${correction.deadlineDay}T10:00:00Z`),
    });
    const cancellation = {
      ...correction,
      id: announce(102).id,
      changes: { notice: `${correction.id}-01`, reason: 'cancel' },
    };
    sources.days.set(yesterday, [exportEntry(first), exportEntry(correction), exportEntry(cancellation)]);
    await readNow('oeffentlichevergabe');
    expect(new Set((await notices()).map(({ tenderId }) => tenderId))).toEqual(new Set([id]));
    expect(await getTender(reader, id)).toMatchObject({ isCancelled: true, triage: { favorite: true } });
    expect(await open()).toBe(0);
  });

  it('withdraws notices missing in two reads, without deleting them, and restores them when they are back', async () => {
    const all = [announce(1), announce(2)];
    sources.days.set(
      yesterday,
      all.map((notice) => exportEntry(notice)),
    );
    await readNow('oeffentlichevergabe');
    sources.days.set(yesterday, [exportEntry(announce(1))]);
    const missed = async () => (await notices()).map(({ missedReads }) => missedReads).toSorted();
    await readNow('oeffentlichevergabe');
    expect([await missed(), await open()]).toEqual([[0, 1], 2]);
    await readNow('oeffentlichevergabe');
    expect([await missed(), await open()]).toEqual([[0, 2], 1]);
    sources.days.set(
      yesterday,
      all.map((notice) => exportEntry(notice)),
    );
    await readNow('oeffentlichevergabe');
    expect([await missed(), await open()]).toEqual([[0, 0], 2]);
  });

  it('withdraws nothing after a failed read, and counts a repeated read once', async () => {
    const all = [announce(1, { publishedOn: day(2) }), announce(2, { publishedOn: day(2) })];
    sources.days.set(
      day(2),
      all.map((notice) => exportEntry(notice)),
    );
    await readNow('oeffentlichevergabe');
    const missed = async () => (await notices()).map(({ missedReads }) => missedReads).toSorted();
    sources.days.set(day(2), [exportEntry(announce(1, { publishedOn: day(2) }))]);
    sources.exportAnswer = (asked) => (asked === yesterday ? { status: 503 } : undefined);
    for (let n = 0; n < 3; n += 1) expect(await readNow('oeffentlichevergabe')).toMatchObject({ state: 'failed' });
    expect([await missed(), await open()]).toEqual([[0, 0], 2]);
    sources.exportAnswer = null;

    // The worker dies after the read and before the end of its run; another worker takes the run over.
    const scope = runScope(system(), null);
    const id = await across((tx) => addRun(tx, readSource, { source: 'oeffentlichevergabe' }, { startedBy: null }));
    const work = { signal: new AbortController().signal, progress: () => undefined, actorId: null };
    for (let n = 0; n < 2; n += 1)
      await readTenderSource(
        system(),
        { source: 'oeffentlichevergabe', tenantId: null },
        { ...work, run: the(await beginRun(scope, id)) },
      );
    await endRun(scope, { id }, { error: null });
    expect([await missed(), await open()]).toEqual([[0, 1], 2]);
  });

  it('leaves out documents that cannot be read, names them, withdraws nothing, and goes on', async () => {
    const [good, hidden] = [announce(1), announce(2)];
    sources.days.set(yesterday, [exportEntry(good), exportEntry(hidden)]);
    await readNow('oeffentlichevergabe');
    const laughs = '<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>';
    const bad = exportEntry(announce(3));
    sources.days.set(yesterday, [
      exportEntry(good),
      { name: '../../evil.xml', bytes: Buffer.from(eformsXml(announce(9))) },
      { name: exportEntry(hidden).name, bytes: Buffer.from(laughs) },
      { name: bad.name, bytes: bad.bytes.subarray(0, 2_000) },
      exportEntry(announce(4, { cpv: Array.from({ length: 10_000 }, (_, n) => `90${String(n).padStart(6, '0')}`) })),
    ]);
    for (let n = 0; n < 2; n += 1)
      expect(await readNow('oeffentlichevergabe')).toEqual({ state: 'succeeded', error: null });
    const { error } = await sourceRow('oeffentlichevergabe');
    expect(error).toContain('3 items were left out');
    expect(error).toContain('../../evil.xml does not have the name of a notice.');
    expect(error).toContain('has a DOCTYPE, which is not allowed.');
    expect((await notices()).map(({ key, missedReads }) => [key, missedReads]).toSorted()).toEqual(
      [good, hidden, announce(4)].map(({ id }) => [id, 0]).toSorted(),
    );
  });

  it('goes on without a document that uses up the memory of the sandbox', { timeout: 60_000 }, async () => {
    // A small heap fills up sooner.
    const sandbox = openSandbox({ processes: 1, heapMb: 40 });
    onTestFinished(() => sandbox.close());
    const good = [1, 2, 3].map((n) => exportEntry(announce(n)));
    const hostile = `<ContractNotice>${'&#228;'.repeat(300_000)}</ContractNotice>`;
    const documents = good.toSpliced(2, 0, { name: 'hostile.xml', bytes: Buffer.from(hostile) });
    const order = { sourcePortal: 'oeffentlichevergabe', day: yesterday, documents };
    const { notices: read, refused } = await parseDocumentsInSandbox({ ...system(), sandbox }, order);
    expect(read.map(({ noticeKey, raw }) => [noticeKey, raw.body.includes(noticeKey)])).toEqual(
      [1, 2, 3].map((n) => [announce(n).id, true]),
    );
    expect(refused).toEqual([{ name: 'hostile.xml', reason: 'takes too much time or memory to read.' }]);
  });

  it('stores why a read failed, keeps the days read before, and is retried soon', async () => {
    sources.days.set(day(2), [exportEntry(announce(1, { publishedOn: day(2) }))]);
    sources.exportAnswer = (asked) => (asked === yesterday ? { status: 503 } : undefined);
    const host = new URL(sources.origin).host;
    expect(await readNow('oeffentlichevergabe')).toEqual({
      state: 'failed',
      error: `${host} reported an error (503).`,
    });
    expect(await sourceRow('oeffentlichevergabe')).toMatchObject({
      watermark: day(2),
      failures: 1,
      error: `${host} reported an error (503).`,
      lastSuccessAt: null,
    });
    expect(await notices()).toHaveLength(1);
    const wait = the((await sourceRow('oeffentlichevergabe')).nextRunAt).getTime() - Date.now();
    expect(wait).toBeLessThanOrEqual(10 * 60_000);
    sources.exportAnswer = null;
    expect(await readNow('oeffentlichevergabe')).toEqual({ state: 'succeeded', error: null });
    expect(await sourceRow('oeffentlichevergabe')).toMatchObject({ watermark: yesterday, failures: 0, error: null });
  });

  it.runIf(canLimitFileSize)('reports a full disk, and is read once there is space', async () => {
    sources.days.set(yesterday, [exportEntry(announce(1))]);
    const liftLimit = await limitFileSize();
    const failed = await readNow('oeffentlichevergabe');
    await liftLimit();
    const error = 'This file cannot be stored right now. Please try again later.';
    expect(failed).toEqual({ state: 'failed', error });
    expect(await sourceRow('oeffentlichevergabe')).toMatchObject({ failures: 1, error, lastSuccessAt: null });
    expect(await readNow('oeffentlichevergabe')).toEqual({ state: 'succeeded', error: null });
    expect(await notices()).toHaveLength(1);
  });

  it('leaves no file behind, not even during the download', async () => {
    const files = async () =>
      (await readdir(config.dataDir, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
    const before = await files();
    const during: unknown[] = [];
    sources.days.set(yesterday, [exportEntry(announce(1))]);
    const archive = zipOf([exportEntry(announce(1))]);
    sources.exportAnswer = (asked) =>
      asked === yesterday ? slowly(archive, async () => during.push(await files())) : undefined;
    expect(await readNow('oeffentlichevergabe')).toEqual({ state: 'succeeded', error: null });
    expect(await notices()).toHaveLength(1);
    expect(during.length).toBeGreaterThan(0);
    for (const each of [...during, await files()]) expect(each).toEqual(before);
  });

  async function* slowly(bytes: Buffer, meanwhile: () => Promise<unknown>): AsyncGenerator<Buffer> {
    yield bytes.subarray(0, 500);
    await pause(200);
    await meanwhile();
    yield bytes.subarray(500);
  }
});

describe('the European search', () => {
  it('joins the tenders of the export, and reads again from three days before', async () => {
    const notice = announce(1, { publicationNumber: '700123-2026' });
    sources.days.set(yesterday, [exportEntry({ ...notice, publicationNumber: null })]);
    await readNow('oeffentlichevergabe');
    sources.journal.notices = [tedJson(notice), tedJson(announce(2, { publicationNumber: '700124-2026' }))];
    expect(await readNow('ted')).toEqual({ state: 'succeeded', error: null });
    const found = await notices();
    expect(found.map(({ source }) => source)).toEqual(['oeffentlichevergabe', 'ted', 'ted']);
    expect(new Set(found.map(({ tenderId }) => tenderId)).size).toBe(2);
    expect(await sourceRow('ted')).toMatchObject({ watermark: today.toString(), newCount: 2 });
    const before = await writes();
    await readNow('ted');
    expect(sources.journal.requests.at(-1)?.query).toContain(`>= ${day(3).replaceAll('-', '')} AND`);
    expect(await writes()).toEqual(before);
  });

  it('names notices without a number and reads the rest', async () => {
    sources.journal.notices = [
      tedJson(announce(1, { publicationNumber: '1-2026' })),
      { ...tedJson(announce(2)), 'publication-number': 'none' },
    ];
    await readNow('ted');
    expect(await notices()).toHaveLength(1);
    expect((await sourceRow('ted')).error).toBe('One item was left out: none has no publication number.');
  });
});

describe('feeds', () => {
  const feedUrl = (path: string) => `${sources.origin}${path}`;
  const item = (n: number, more = '') =>
    `<item><title>Meldung ${n}</title><link>/m/${n}?utm_source=x#top</link><guid>g${n}</guid><description>&lt;p&gt;Angebotsfrist: 10.12.2099 12:00&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;${more}</description></item>`;

  it('of service.bund.de give buyer, place and deadline', async () => {
    sources.feeds.set('/bund.xml', { body: rssFeed([bundItem(announce(1, { id: '25601234' }))]), etag: '"1"' });
    await readNow('bund');
    const [found] = await across((tx) => tx.select().from(tenderNotices));
    expect(found).toMatchObject({
      noticeKey: '25601234',
      bundId: '25601234',
      buyerName: announce(1).buyer,
      bundesland: 'BY',
      region: '80331 Beispielstadt',
      deadlines: [{ kind: 'tender', lotId: null, at: expect.stringContaining(later), isDateOnly: false }],
    });
    expect(await sourceRow('bund')).toMatchObject({ etag: '"1"', newCount: 1 });
    await readNow('bund');
    expect(sources.feedRequests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
  });

  it('are fetched once for all registrations, and each owner sees the tenders', async () => {
    sources.feeds.set('/shared.xml', { body: rssFeed([item(1), item(2)]) });
    const [one, other, stranger] = [
      await signedIn(await make.user()),
      await signedIn(await make.user()),
      await signedIn(await make.user()),
    ];
    const registered = [];
    for (const ctx of [one, other])
      registered.push(await createFeed(ctx, { url: feedUrl('/shared.xml'), title: null, scope: 'personal' }));
    const keys = new Set(registered.map(({ sourceKey }) => sourceKey));
    expect(keys.size).toBe(1);
    const system_ = worker.runtime.system({ requestId: 'test', ip: null, userAgent: null });
    await startDueTenderSources(system_);
    await expect
      .poll(async () => (await sourceRow(the([...keys][0]))).lastSuccessAt, { timeout: 20_000 })
      .not.toBeNull();
    expect(sources.feedRequests.filter(({ path }) => path === '/shared.xml')).toHaveLength(1);
    const rows = await notices();
    expect(rows.map(({ key }) => key).toSorted()).toEqual(['g1', 'g2']);
    const seen = (ctx: UserContext) =>
      ctx.inTenant(ctx.tenantId, ctx.actor.id).read((db) => db.select({ id: tenderNotices.id }).from(tenderNotices));
    expect([(await seen(one)).length, (await seen(other)).length, (await seen(stranger)).length]).toEqual([2, 2, 0]);
  });

  it('are not read if they are unchanged, with or without validators', async () => {
    const ctx = await signedIn(await make.user());
    sources.feeds.set('/same.xml', { body: rssFeed([item(1)]) });
    const { sourceKey } = await createFeed(ctx, { url: feedUrl('/same.xml'), title: null, scope: 'personal' });
    await readWhenDue(sourceKey);
    const before = await writes();
    await readWhenDue(sourceKey);
    expect(await writes()).toEqual(before);
    sources.feeds.set('/same.xml', { status: 410 });
    await readWhenDue(sourceKey);
    expect(await sourceRow(sourceKey)).toMatchObject({
      isGone: true,
      error: expect.stringContaining('no longer exists'),
    });
    sources.feeds.set('/same.xml', { body: rssFeed([item(1)]) });
    await across((tx) => tx.update(tenderSources).set({ nextRunAt: null }).where(eq(tenderSources.key, sourceKey)));
    sources.feedRequests.length = 0;
    await startDueTenderSources(worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }));
    expect((await runsOf(sourceKey)).filter((state) => state === 'queued')).toEqual([]);
    expect(sources.feedRequests).toEqual([]);
  });

  it('move to a new address after three permanent redirects, unless it is a source already', async () => {
    const ctx = await signedIn(await make.user());
    sources.feeds.set('/new.xml', { body: rssFeed([item(1)]) });
    for (const path of ['/old.xml', '/older.xml'])
      sources.feeds.set(path, { status: 301, headers: { location: '/new.xml' } });
    const register = async (path: string) =>
      (await createFeed(ctx, { url: feedUrl(path), title: null, scope: 'personal' })).sourceKey;
    const old = await register('/old.xml');
    const addressOf = async (key: string) => {
      await readWhenDue(key);
      const { url: address, movedTo, movedCount } = await sourceRow(key);
      return [address, movedTo, movedCount];
    };
    expect(await addressOf(old)).toEqual([feedUrl('/old.xml'), feedUrl('/new.xml'), 1]);
    // One read in between without a redirect.
    sources.feeds.set('/old.xml', { body: rssFeed([item(1)]) });
    expect(await addressOf(old)).toEqual([feedUrl('/old.xml'), null, 0]);
    sources.feeds.set('/old.xml', { status: 308, headers: { location: '/new.xml' } });
    for (const times of [1, 2]) expect(await addressOf(old)).toEqual([feedUrl('/old.xml'), feedUrl('/new.xml'), times]);
    expect(await addressOf(old)).toEqual([feedUrl('/new.xml'), null, 0]);
    const older = await register('/older.xml');
    for (let n = 0; n < 3; n += 1) await addressOf(older);
    expect(await addressOf(older)).toEqual([feedUrl('/older.xml'), feedUrl('/new.xml'), 1]);
    // Users still see the address they entered.
    expect((await listFeeds(ctx)).map((feed) => feed.url)).toEqual([feedUrl('/old.xml'), feedUrl('/older.xml')]);
  });

  it('are parsed within the share of the tenant that registered them, and platform feeds within one', async () => {
    const [owner, admin] = [await signedIn(await make.user()), await signedIn(await make.user({ role: 'ADMIN' }))];
    const parsed = vi.spyOn(worker.runtime.sandbox, 'run');
    onTestFinished(() => parsed.mockRestore());
    const read = async (ctx: typeof owner, path: string, scope: 'personal' | 'platform') => {
      sources.feeds.set(path, { body: rssFeed([item(1)]) });
      const { sourceKey } = await createFeed(ctx, { url: feedUrl(path), title: null, scope });
      await readWhenDue(sourceKey);
      return sourceKey;
    };
    const own = await read(owner, '/share-own.xml', 'personal');
    for (const path of ['/share-1.xml', '/share-2.xml']) await read(admin, path, 'platform');
    const common = { tenantId: null, ownerId: 'platform feeds' };
    expect(parsed.mock.calls.map(([, , of]) => of)).toEqual([
      { tenantId: owner.tenantId, ownerId: own },
      common,
      common,
    ]);
  });

  it('that become platform feeds are read again from the beginning', async () => {
    const [owner, admin] = [await signedIn(await make.user()), await signedIn(await make.user({ role: 'ADMIN' }))];
    sources.feeds.set('/both.xml', { body: rssFeed([item(1)]), etag: '"1"' });
    const { sourceKey } = await createFeed(owner, { url: feedUrl('/both.xml'), title: null, scope: 'personal' });
    await readWhenDue(sourceKey);
    expect(await sourceRow(sourceKey)).toMatchObject({ etag: '"1"', lastSuccessAt: expect.any(Date) });
    await createFeed(admin, { url: feedUrl('/both.xml'), title: null, scope: 'platform' });
    expect(await sourceRow(sourceKey)).toMatchObject({ etag: null, lastSuccessAt: null });
    await readWhenDue(sourceKey);
    expect(await sourceRow(sourceKey)).toMatchObject({ etag: '"1"', lastSuccessAt: expect.any(Date) });
  });

  it('that do not answer delay neither public sources nor feeds of other tenants', async () => {
    onTestFinished(silent.close);
    const ctx = await signedIn(await make.user());
    for (let n = 0; n < 50; n += 1)
      await createFeed(ctx, { url: `${silent.origin}/${n}`, title: null, scope: 'personal' });
    await startDueTenderSources(worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }));
    await expect.poll(() => silent.connections(), { timeout: 10_000 }).toBeGreaterThanOrEqual(5);
    sources.feeds.set('/bund.xml', { body: rssFeed([bundItem(announce(1, { id: '25601234' }))]) });
    const startedAt = performance.now();
    expect(await readNow('bund')).toMatchObject({ state: 'succeeded' });
    sources.feeds.set('/prompt.xml', { body: rssFeed([item(1)]) });
    const stranger = await signedIn(await make.user());
    const feed = { url: feedUrl('/prompt.xml'), title: null, scope: 'personal' } as const;
    await readWhenDue((await createFeed(stranger, feed)).sourceKey);
    // A feed that does not answer occupies its slot for 20 seconds.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  const readWhenDue = async (key: string) => {
    await across((tx) => tx.update(tenderSources).set({ nextRunAt: null }).where(eq(tenderSources.key, key)));
    const before = (await sourceRow(key)).lastRunAt?.getTime() ?? 0;
    await startDueTenderSources(worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }));
    await expect
      .poll(async () => (await runsOf(key)).every((state) => state !== 'queued' && state !== 'running'), {
        timeout: 20_000,
      })
      .toBe(true);
    expect((await sourceRow(key)).lastRunAt?.getTime()).toBeGreaterThan(before);
  };
  const runsOf = async (key: string) =>
    (await across((tx) => tx.select({ state: runs.state }).from(runs).where(eq(runs.subject, key)))).map(
      ({ state }) => state,
    );
});

describe('a source that is turned off', () => {
  const off = { ...config, tenderSources: { ...config.tenderSources, bund: null } };

  it('is not started, neither by schedule nor on request', async () => {
    await across((tx) => tx.update(tenderSources).set({ nextRunAt: null }).where(eq(tenderSources.key, 'bund')));
    await startDueTenderSources({ ...system(), config: off });
    expect((await sourceRow('bund')).nextRunAt).toBeNull();
    await expect(runSource({ ...(await operator()), config: off }, 'bund')).rejects.toMatchObject({
      kind: 'not_found',
    });
  });

  it('stops while it is being read, and is read again after it is turned on', async () => {
    sources.feeds.set('/bund.xml', { body: rssFeed([bundItem(announce(1, { id: '25601234' }))]) });
    const scope = runScope(system(), null);
    const id = await across((tx) => addRun(tx, readSource, { source: 'bund' }, { startedBy: null }));
    // The worker that was reading it has died, and the next one has other settings.
    await beginRun(scope, id);
    const run = the(await beginRun(scope, id));
    const work = { signal: new AbortController().signal, progress: () => undefined, actorId: null, run };
    await expect(
      readTenderSource({ ...system(), config: off }, { source: 'bund', tenantId: null }, work),
    ).rejects.toThrow('This source is turned off.');
    await endRun(scope, run, { error: 'This source is turned off.' });
    expect([await notices(), sources.feedRequests]).toEqual([[], []]);
    expect(await sourceRow('bund')).toMatchObject({ error: 'This source is turned off.', lastSuccessAt: null });
    expect(await readNow('bund')).toEqual({ state: 'succeeded', error: null });
    expect(await notices()).toHaveLength(1);
  });
});

describe('one source', () => {
  it('is read by one of two workers, even with several requests', async () => {
    const second = startWorker();
    onTestFinished(() => second.stop());
    sources.latencyMs = 300;
    sources.days.set(
      yesterday,
      Array.from({ length: 30 }, (_, n) => exportEntry(announce(n))),
    );
    const ctx = await operator();
    const asked = await Promise.allSettled(Array.from({ length: 6 }, () => runSource(ctx, 'oeffentlichevergabe')));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(asked.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { kind: 'conflict' } });
    await startDueTenderSources(system());
    const [started] = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(await waitForRun(runScope(ctx, null), the(started).runId, 60)).toBe(true);
    sources.latencyMs = 0;
    expect(sources.exportRequests).toEqual([7, 6, 5, 4, 3, 2, 1].map(day));
    expect(await notices()).toHaveLength(30);
  });

  it('counts its notices in the metrics', async () => {
    const bad = exportEntry(announce(2));
    sources.days.set(yesterday, [exportEntry(announce(1)), { name: bad.name, bytes: bad.bytes.subarray(0, 2_000) }]);
    await readNow('oeffentlichevergabe');
    sources.feeds.set('/counted.xml', { body: rssFeed(['<item><title>Meldung</title><guid>g1</guid></item>']) });
    const reader = await signedIn(await make.user());
    const feed = { url: `${sources.origin}/counted.xml`, title: null, scope: 'personal' } as const;
    const { sourceKey } = await createFeed(reader, feed);
    await startDueTenderSources(worker.runtime.system({ requestId: 'test', ip: null, userAgent: null }));
    await expect.poll(async () => (await sourceRow(sourceKey)).lastSuccessAt, { timeout: 20_000 }).not.toBeNull();
    const body = await worker.figures();
    expect(body).toMatch(/portal_tender_notices_total\{.*source="oeffentlichevergabe",outcome="added".*\} \d+/);
    expect(body).toMatch(/portal_tender_notices_total\{.*source="oeffentlichevergabe",outcome="unreadable".*\} \d+/);
    expect(body).toMatch(/portal_tender_notices_total\{.*source="rss",outcome="added".*\} \d+/);
  });
});
