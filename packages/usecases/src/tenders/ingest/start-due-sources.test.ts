import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { startDueTenderSources } from './start-due-sources.ts';

const { make, system, runtime } = await testRuntime();

/** Registers feeds that have been due for `minutes`; platform feeds without an owner. */
const feedsOf = (owner: { id: string; tenantId: string } | null, count: number, minutes: number) =>
  runtime.database.acrossTenants('a test registers feeds', async (tx) => {
    const feeds = Array.from({ length: count }, () => {
      const id = newId();
      return { id, url: `https://feeds.example.org/${id}`, sourceKey: `rss:${id}` };
    });
    const nextRunAt = sql`now() - make_interval(mins => ${minutes}::int)`;
    await tx.insert(tenderSources).values(feeds.map(({ url, sourceKey }) => ({ key: sourceKey, url, nextRunAt })));
    await tx
      .insert(rssFeeds)
      .values(feeds.map((feed) => ({ ...feed, tenantId: owner?.tenantId ?? null, userId: owner?.id ?? null })));
  });

it('starts the feeds of each tenant in turn, even if one tenant has many, and names the tenant of each', async () => {
  const [many, few] = [await make.user(), await make.user()];
  await feedsOf(many, 300, 60);
  await feedsOf(few, 2, 2);
  await feedsOf(null, 3, 1);
  const started: (string | undefined)[] = [];
  const recording = {
    ...system(),
    enqueue: async (_job: unknown, payload: unknown) => {
      const { source, tenantId } = payload as { source: string; tenantId?: string };
      if (source.startsWith('rss:')) started.push(tenantId);
    },
  };
  await startDueTenderSources(recording);
  const ofTenant = (tenantId: string | undefined) => started.filter((one) => one === tenantId).length;
  expect([ofTenant(few.tenantId), ofTenant(undefined)]).toEqual([2, 3]);
  expect(ofTenant(many.tenantId)).toBeGreaterThan(190);
  await startDueTenderSources(recording);
  expect(ofTenant(many.tenantId)).toBe(300);
});
