import { asc, count, eq, isNull, sql } from 'drizzle-orm';
import { conflictOn } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { tenderMatches } from '@portal/db/schema/tenders/matches';
import { tenders } from '@portal/db/schema/tenders/notices';
import { savedSearches } from '@portal/db/schema/tenders/saved-searches';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { isAdmin } from '@portal/domain/access';
import { conflict, forbidden, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { NewRssFeed, RssFeed, RssFeedChange } from '@portal/domain/tenders/feeds';
import type { UserContext } from '@portal/platform/context';
import { lockTenant } from '@portal/platform/lock-tenant';
import { recordAudit } from './audit.ts';
import { ownScope } from './list-tenders.ts';
import { healthColumns, healthOf, runningSources } from './sources.ts';

/** Feeds per account, and platform feeds in total. */
const maxFeeds = { personal: 50, platform: 200 };

/** The account's own feeds and the platform feeds, oldest first. */
export async function listFeeds(ctx: UserContext): Promise<RssFeed[]> {
  const [rows, running] = await Promise.all([visibleFeeds(ctx), runningSources(ctx)]);
  return rows.map(({ key, url, feedUrl, userId, ...row }) => {
    const { lastRunAt, lastSuccessAt, newCount, failures, error, isGone, ...feed } = row;
    const health = healthOf(ctx, { key, url, lastRunAt, lastSuccessAt, newCount, failures, error, isGone }, running);
    return { ...feed, url: feedUrl, scope: userId === null ? 'platform' : 'personal', sourceKey: key, ...health };
  });
}

async function feedFor(ctx: UserContext, id: string): Promise<RssFeed> {
  const feed = (await listFeeds(ctx)).find((one) => one.id === id);
  if (!feed) throw notFound();
  return feed;
}

/**
 * Registers a feed. Registrations of the same address share one source, which is fetched once. Throws 403 for a platform feed if the caller
 * is not an administrator, 409 `FEED_EXISTS` and 409 `LIMIT_REACHED`.
 */
export async function createFeed(ctx: UserContext, { url, title, scope }: NewRssFeed): Promise<RssFeed> {
  const isPlatform = scope === 'platform';
  if (isPlatform && !isAdmin(ctx.actor)) throw forbidden();
  const id = newId();
  const adding = ctx.acrossTenants('a feed is one source for all who registered it', async (tx) => {
    const sourceKey = await sourceOf(tx, url, isPlatform);
    await lockTenant(tx, ctx.tenantId);
    const mine = isPlatform ? isNull(rssFeeds.userId) : eq(rssFeeds.userId, ctx.actor.id);
    const [row] = await tx.select({ feeds: count() }).from(rssFeeds).where(mine);
    await tx.insert(rssFeeds).values({
      id,
      tenantId: isPlatform ? null : ctx.tenantId,
      userId: isPlatform ? null : ctx.actor.id,
      url,
      title: title ?? null,
      sourceKey,
    });
    // After the insert: `FEED_EXISTS` takes precedence over the limit.
    if ((row?.feeds ?? 0) >= maxFeeds[scope]) throw conflict('LIMIT_REACHED');
    if (isPlatform) await record(tx, ctx, 'feeds.create', id, `Registered the platform feed ${url}.`);
  });
  await adding.catch(conflictOn({ rss_feeds_url_unique: 'FEED_EXISTS' }));
  return feedFor(ctx, id);
}

/** The source of an address, scheduled to be read as soon as possible. */
async function sourceOf(tx: Tx, url: string, isPlatform: boolean): Promise<string> {
  const [source] = await tx
    .insert(tenderSources)
    .values({ key: `rss:${newId()}`, url, nextRunAt: sql`now()` })
    .onConflictDoUpdate({
      target: tenderSources.url,
      set: {
        nextRunAt: sql`now()`,
        isGone: false,
        failures: 0,
        // Read a former personal source again from the beginning, so that its tenders become public.
        ...(isPlatform && { etag: null, lastModified: null, bodyHash: null, lastSuccessAt: null }),
      },
    })
    .returning({ key: tenderSources.key });
  if (!source) throw new Error('an upsert answers its row');
  return source.key;
}

/** Changes the given fields. Throws 404, and 403 for a platform feed if the caller is not an administrator. */
export async function updateFeed(ctx: UserContext, id: string, { title, isActive }: RssFeedChange): Promise<RssFeed> {
  const feed = await changeableFeed(ctx, id);
  await ctx.acrossTenants('a user changes a feed', async (tx) => {
    const [changed] = await tx
      .update(rssFeeds)
      .set({ title: title === undefined ? sql`${rssFeeds.title}` : title, ...(isActive !== undefined && { isActive }) })
      .where(eq(rssFeeds.id, id))
      .returning({ id: rssFeeds.id });
    if (!changed) throw notFound();
    if (feed.scope === 'platform') await record(tx, ctx, 'feeds.update', id, `Changed the platform feed ${feed.url}.`);
  });
  return feedFor(ctx, id);
}

/**
 * Removes a registration. Tenders that only this personal feed listed are hidden; tenders of a platform feed stay. Throws 404, and 403 like
 * `updateFeed`.
 */
export async function deleteFeed(ctx: UserContext, id: string): Promise<void> {
  const feed = await changeableFeed(ctx, id);
  await ctx.acrossTenants('a user removes a feed', async (tx) => {
    const [deleted] = await tx.delete(rssFeeds).where(eq(rssFeeds.id, id)).returning({ id: rssFeeds.id });
    if (!deleted) throw notFound();
    if (feed.scope === 'personal') await deleteMatches(tx, ctx.actor.id, feed.sourceKey);
    if (feed.scope === 'platform') await record(tx, ctx, 'feeds.delete', id, `Removed the platform feed ${feed.url}.`);
  });
}

/** Deletes the account's matches of tenders that only this source listed. */
const deleteMatches = (tx: Tx, userId: string, sourceKey: string) =>
  tx.execute(sql`
    delete from ${tenderMatches} m using ${savedSearches} s, ${tenders} t
    where s.id = m.search_id and s.user_id = ${userId} and t.id = m.tender_id and t.only_source = ${sourceKey}`);

async function changeableFeed(ctx: UserContext, id: string): Promise<RssFeed> {
  const feed = await feedFor(ctx, id);
  if (feed.scope === 'platform' && !isAdmin(ctx.actor)) throw forbidden();
  return feed;
}

const visibleFeeds = (ctx: UserContext) =>
  ownScope(ctx).read((db) =>
    db
      .select({
        ...healthColumns,
        id: rssFeeds.id,
        key: tenderSources.key,
        feedUrl: rssFeeds.url,
        title: rssFeeds.title,
        userId: rssFeeds.userId,
        isActive: rssFeeds.isActive,
        createdAt: rssFeeds.createdAt,
      })
      .from(rssFeeds)
      .innerJoin(tenderSources, eq(tenderSources.key, rssFeeds.sourceKey))
      .orderBy(asc(rssFeeds.id)),
  );

const record = (
  tx: Tx,
  ctx: UserContext,
  action: 'feeds.create' | 'feeds.update' | 'feeds.delete',
  id: string,
  summary: string,
) => recordAudit(tx, ctx, { action, tenantId: ctx.tenantId, target: { type: 'rss_feed', id }, summary });
