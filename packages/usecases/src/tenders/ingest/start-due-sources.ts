import { and, asc, desc, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { settingsSources } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import { addRuns } from '@portal/platform/runs/start';
import { readFeed, readSource } from '../jobs.ts';
import { readingOf } from '../sources.ts';

/** Reads started at a time; the rest waits for the next minute. */
const batch = 200;

/** The tenant for which a feed is read: that of its oldest registration; null for platform feeds and sources of the settings. */
const firstTenant = sql<
  string | null
>`(select feed.tenant_id from rss_feeds feed where feed.source_key = tender_sources.key and feed.is_active order by feed.id limit 1)`;

/**
 * Starts the reads that are due, each once even if several workers run this. Leaves out sources whose last read is still running, sources
 * that are turned off, feeds without an active registration, and feeds that no longer exist. Tenants take turns, so that a tenant with many
 * feeds does not delay the feeds of others.
 */
export async function startDueTenderSources(system: SystemContext): Promise<void> {
  const keys = Object.keys(settingsSources) as (keyof typeof settingsSources)[];
  const turnedOn = keys.filter((key) => system.config.tenderSources[key] !== null);
  const started = await system.acrossTenants('due reads of tender sources are started', async (tx) => {
    if (turnedOn.length > 0)
      await tx
        .insert(tenderSources)
        .values(turnedOn.map((key) => ({ key })))
        .onConflictDoNothing();
    const activeFeed = tx
      .select({ one: sql`1` })
      .from(rssFeeds)
      .where(and(eq(rssFeeds.sourceKey, tenderSources.key), eq(rssFeeds.isActive, true)));
    const isDue = and(
      or(isNull(tenderSources.nextRunAt), lte(tenderSources.nextRunAt, sql`now()`)),
      eq(tenderSources.isGone, false),
      or(inArray(tenderSources.key, turnedOn), sql`exists (${activeFeed})`),
    );
    const inLine = tx
      .select({
        key: tenderSources.key,
        turn: sql<number>`row_number() over (partition by ${firstTenant} order by ${tenderSources.nextRunAt})`.as(
          'turn',
        ),
      })
      .from(tenderSources)
      .where(isDue)
      .as('in_line');
    const due = tx.$with('due').as(
      tx
        .select({ key: tenderSources.key })
        .from(tenderSources)
        .innerJoin(inLine, eq(inLine.key, tenderSources.key))
        .where(isDue)
        // First the sources of the settings, which are three; then one feed of each tenant in turn.
        .orderBy(desc(inArray(tenderSources.key, keys)), asc(inLine.turn), asc(tenderSources.nextRunAt))
        .limit(batch)
        .for('update', { of: tenderSources, skipLocked: true }),
    );
    const claimed = await tx
      .with(due)
      .update(tenderSources)
      // The end of the read sets the real time; this value covers a read that never ends.
      .set({ nextRunAt: sql`now() + interval '1 hour'` })
      .where(inArray(tenderSources.key, tx.select({ key: due.key }).from(due)))
      .returning({ source: tenderSources.key, tenantId: firstTenant });
    const runs = [];
    for (const job of [readSource, readFeed]) {
      const own = claimed
        .filter(({ source }) => readingOf(source) === job)
        .map(({ source, tenantId }) => ({ source, ...(tenantId !== null && { tenantId }) }));
      if (own.length > 0) runs.push(...(await addRuns(tx, job, own)));
    }
    return runs;
  });
  for (const { id, payload } of started) await system.enqueue(readingOf(payload.source), payload, { runId: id });
}
