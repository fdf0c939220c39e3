import { and, asc, inArray, isNull, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { runs } from '@portal/db/schema/platform/operations';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { conflict, notFound } from '@portal/domain/errors';
import type { sourceStates, TenderSource } from '@portal/domain/tenders/feeds';
import {
  isMailboxSource,
  isSettingsSource,
  mailboxKey,
  settingsSources,
  shownSource,
} from '@portal/domain/tenders/sources';
import type { SystemContext, UserContext } from '@portal/platform/context';
import { addRun, conflictWithUnfinished } from '@portal/platform/runs/start';
import { isUnfinished } from '@portal/platform/runs/unfinished';
import { recordAudit } from './audit.ts';
import { readFeed, readSource } from './jobs.ts';
import { ownScope } from './list-tenders.ts';

/** The sources that the account may see: those of the settings, the platform feeds, its own feeds and its mailbox. */
export async function listSources(ctx: UserContext): Promise<TenderSource[]> {
  const [rows, running] = await Promise.all([
    ownScope(ctx).read((db) =>
      db
        .select({
          ...healthColumns,
          key: tenderSources.key,
          title: sql<
            string | null
          >`(select min(${rssFeeds.title}) from ${rssFeeds} where ${rssFeeds.sourceKey} = ${tenderSources.key})`,
        })
        .from(tenderSources)
        .orderBy(asc(tenderSources.key)),
    ),
    runningSources(ctx),
  ]);
  const known = new Map(rows.map((row) => [row.key, row]));
  const fromSettings = Object.keys(settingsSources).map((key) => known.get(key) ?? { ...neverRead, key, title: null });
  return [...fromSettings, ...rows.filter(({ key }) => !isSettingsSource(key))].map(({ key, title, ...row }) => ({
    key: shownSource(key),
    name: isSettingsSource(key)
      ? settingsSources[key]
      : isMailboxSource(key)
        ? 'Eigenes Postfach'
        : (title ?? URL.parse(row.url ?? '')?.host ?? key),
    ...healthOf(ctx, { key, ...row }, running),
  }));
}

/** Starts a read of a source. Throws 404 for a source that the account may not see or that cannot be started, and 409 while it is read. */
export async function runSource(ctx: UserContext, key: string): Promise<{ runId: string }> {
  const source = (await listSources(ctx)).find((one) => one.key === key);
  // The schedule reads mailboxes.
  if (!source || source.state === 'off' || key === mailboxKey) throw notFound();
  if (source.state === 'gone')
    throw conflict('CONFLICT', 'This feed reported that it no longer exists. Please register its new address.');
  const payload = { source: key, tenantId: ctx.tenantId };
  const runId = await ctx
    .acrossTenants('a read of a source is started', async (tx) => {
      await recordAudit(tx, ctx, {
        action: 'tender-sources.run',
        tenantId: ctx.tenantId,
        target: { type: 'tender_source', id: key },
        summary: `Started a read of the source ${source.name}.`,
      });
      return addRun(tx, readingOf(key), payload, { startedBy: ctx.actor.id });
    })
    .catch(
      conflictWithUnfinished(['CONFLICT', 'This source is already being read. Please wait until it is finished.']),
    );
  await ctx.enqueue(readingOf(key), payload, { runId });
  return { runId };
}

/** The job that reads a source. */
export const readingOf = (key: string) => (isSettingsSource(key) ? readSource : readFeed);

/** The columns that `healthOf` needs. */
export const healthColumns = {
  url: tenderSources.url,
  lastRunAt: tenderSources.lastRunAt,
  lastSuccessAt: tenderSources.lastSuccessAt,
  newCount: tenderSources.newCount,
  failures: tenderSources.failures,
  error: tenderSources.error,
  isGone: tenderSources.isGone,
};
interface Health {
  key: string;
  url: string | null;
  lastRunAt: Date | null;
  lastSuccessAt: Date | null;
  newCount: number;
  failures: number;
  error: string | null;
  isGone: boolean;
}

const neverRead = {
  url: null,
  lastRunAt: null,
  lastSuccessAt: null,
  newCount: 0,
  failures: 0,
  error: null,
  isGone: false,
};

export function healthOf(
  { config }: SystemContext,
  { key, lastRunAt, lastSuccessAt, newCount, failures, error, isGone }: Health,
  running: ReadonlySet<string>,
) {
  const state = (): (typeof sourceStates)[number] => {
    if (isSettingsSource(key) && config.tenderSources[key] === null) return 'off';
    if (running.has(key)) return 'running';
    if (isGone) return 'gone';
    return lastRunAt === null ? 'new' : failures === 0 ? 'ok' : 'failed';
  };
  return { lastRunAt, lastSuccessAt, state: state(), newCount, error };
}

/** Keys of the sources being read. */
export async function runningSources(system: SystemContext): Promise<Set<string>> {
  const rows = await system.runAcrossTenants('reads of sources belong to no tenant', unfinishedReadings, {});
  return new Set(rows.map(({ key }) => key));
}

const unfinishedReadings = prepared<Record<string, never>>()('tender_readings', (db) =>
  db
    .select({ key: sql<string>`${runs.subject}`.as('key') })
    .from(runs)
    .where(and(isNull(runs.tenantId), inArray(runs.kind, [readSource.name, readFeed.name]), isUnfinished)),
);
