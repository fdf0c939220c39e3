import { eq, sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { newId } from '@portal/domain/ids';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { mailboxSource } from '@portal/domain/tenders/sources';
import { removeExpiredRows } from '@portal/platform/retention';
import { testRuntime } from '@portal/testing/runtime';
import { noticeRecord } from '@portal/testing/tender-notices';
import { removeSurplusTenders } from './remove-surplus.ts';
import { storeNotices } from './store-notices.ts';

const { runtime, system, make } = await testRuntime();
const across = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => runtime.database.acrossTenants('a test reads', work);

const addSource = (key: string) =>
  across((tx) =>
    tx.insert(tenderSources).values({ key, url: key.startsWith('rss:') ? `https://feed.example/${key}` : null }),
  );

/** A feed registered by an account, or a platform feed. */
async function feed(owner: { id: string; tenantId: string } | null): Promise<string> {
  const sourceKey = `rss:${newId()}`;
  await addSource(sourceKey);
  await across((tx) =>
    tx.insert(rssFeeds).values({
      id: newId(),
      tenantId: owner?.tenantId ?? null,
      userId: owner?.id ?? null,
      url: `https://feed.example/${sourceKey}`,
      sourceKey,
    }),
  );
  return sourceKey;
}

const item = (sourcePortal: string, overrides: Partial<NoticeRecord> = {}) =>
  noticeRecord({ sourcePortal, noticeUuid: null, form: null, noticeType: null, subtype: null, ...overrides });

/** Stores notices of a source; the last one is the oldest. */
async function fill(key: string, count: number): Promise<NoticeRecord[]> {
  const records = Array.from({ length: count }, () => item(key));
  for (const [n, record] of records.entries()) {
    await storeNotices(system(), [record]);
    await across((tx) =>
      tx
        .update(tenderNotices)
        .set({ firstSeenAt: sql`now() - make_interval(mins => ${n})` })
        .where(eq(tenderNotices.noticeKey, record.noticeKey)),
    );
  }
  return records;
}

const keysOf = (sourceKey: string) =>
  across(async (tx) => {
    const rows = await tx
      .select({ key: tenderNotices.noticeKey })
      .from(tenderNotices)
      .where(eq(tenderNotices.sourceKey, sourceKey));
    return rows.map(({ key }) => key).toSorted();
  });
const sorted = (records: NoticeRecord[]) => records.map(({ noticeKey }) => noticeKey).toSorted();
const remove = (max: number) =>
  removeExpiredRows(
    system(),
    [{ what: 'surplus', walk: (tx, after) => removeSurplusTenders(tx, after, max) }],
    new AbortController().signal,
  );

it('keeps the newest tenders of a personal source, and all public tenders', async () => {
  const user = await make.user();
  const [personal, platform, mailbox] = [await feed(user), await feed(null), mailboxSource(user.id)];
  await addSource(mailbox);
  const [fromPersonal, fromPlatform, fromMailbox] = [
    await fill(personal, 5),
    await fill(platform, 5),
    await fill(mailbox, 4),
  ];
  expect((await remove(3))['surplus']).toBe(3);
  expect(await keysOf(personal)).toEqual(sorted(fromPersonal.slice(0, 3)));
  expect(await keysOf(mailbox)).toEqual(sorted(fromMailbox.slice(0, 3)));
  expect(await keysOf(platform)).toEqual(sorted(fromPlatform));
  expect(await remove(3)).toEqual({ surplus: 0 });
});

it('keeps a public tender that a personal feed also listed, without the notice of the feed', async () => {
  const key = await feed(await make.user());
  const shown = noticeRecord({ publicationNumber: `${Date.now()}-2026` });
  await storeNotices(system(), [shown]);
  await storeNotices(system(), [item(key, { publicationNumber: shown.publicationNumber })]);
  await remove(0);
  expect(await keysOf(key)).toEqual([]);
  expect(await keysOf(shown.sourcePortal)).toContain(shown.noticeKey);
});

it('removes all tenders of a source without an owner, and resets it for the next registration', async () => {
  const [user, deleted] = [await make.user(), await make.user()];
  const [dropped, mailbox] = [await feed(user), mailboxSource(deleted.id)];
  await addSource(mailbox);
  const [first] = await fill(dropped, 3);
  await fill(mailbox, 2);
  const [tender] = await across((tx) =>
    tx
      .select({ id: tenderNotices.tenderId })
      .from(tenderNotices)
      .where(eq(tenderNotices.noticeKey, first?.noticeKey ?? '')),
  );
  await across(async (tx) => {
    await tx
      .insert(tenderTriage)
      .values({ tenantId: user.tenantId, userId: user.id, tenderId: tender?.id ?? '', isFavorite: true });
    await tx.update(tenderSources).set({ bodyHash: 'x', etag: 'y' }).where(eq(tenderSources.key, dropped));
    await tx.delete(rssFeeds).where(eq(rssFeeds.sourceKey, dropped));
  });
  await across((tx) => tx.delete(users).where(eq(users.id, deleted.id)));
  expect(await remove(100)).toEqual({ surplus: 5 });
  expect([await keysOf(dropped), await keysOf(mailbox)]).toEqual([[], []]);
  expect(await across((tx) => tx.$count(tenders, eq(tenders.id, tender?.id ?? '')))).toBe(0);
  const [source] = await across((tx) => tx.select().from(tenderSources).where(eq(tenderSources.key, dropped)));
  expect(source).toMatchObject({ bodyHash: null, etag: null, lastSuccessAt: null });
});
