import { and, desc, eq, lt } from 'drizzle-orm';
import type { Reader } from '@portal/db/open';
import { ldapSyncRuns } from '@portal/db/schema/directory';
import { runs } from '@portal/db/schema/platform/operations';
import { type LdapSyncRun, noCounts, SyncCounts } from '@portal/domain/directory/sync';
import { notFound } from '@portal/domain/errors';
import type { TenantContext } from '@portal/platform/context';

/** Lists the tenant's synchronizations, newest first; `after` is the last id of the previous page. */
export async function listSyncRuns(
  ctx: TenantContext,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<{ items: LdapSyncRun[]; next: string | null }> {
  const rows = await ctx.read((db) =>
    storedSyncRuns(db)
      .where(after === undefined ? undefined : lt(ldapSyncRuns.id, after))
      .orderBy(desc(ldapSyncRuns.id))
      .limit(limit + 1),
  );
  const items = rows.slice(0, limit).map(toSyncRun);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Returns the state and the results of a synchronization; throws 404. */
export async function getSyncRun(ctx: TenantContext, id: string): Promise<LdapSyncRun> {
  const [row] = await ctx.read((db) => storedSyncRuns(db).where(eq(ldapSyncRuns.id, id)));
  if (!row) throw notFound();
  return toSyncRun(row);
}

const storedSyncRuns = (db: Reader) =>
  db
    .select({
      id: ldapSyncRuns.id,
      trigger: ldapSyncRuns.trigger,
      isBlocked: ldapSyncRuns.isBlocked,
      counts: ldapSyncRuns.counts,
      warnings: ldapSyncRuns.warnings,
      state: runs.state,
      startedAt: runs.startedAt,
      finishedAt: runs.finishedAt,
      done: runs.done,
      total: runs.total,
      error: runs.error,
    })
    .from(ldapSyncRuns)
    .innerJoin(runs, and(eq(runs.tenantId, ldapSyncRuns.tenantId), eq(runs.id, ldapSyncRuns.id)));

type StoredSyncRun = Awaited<ReturnType<typeof storedSyncRuns>>[number];

const toSyncRun = ({ isBlocked, counts, warnings, state, done, total, ...run }: StoredSyncRun): LdapSyncRun => ({
  ...run,
  state: state === 'failed' && isBlocked ? 'blocked' : state,
  progress: done === null || total === null ? null : { done, total },
  counts: storedCounts(counts),
  warnings: warnings as string[],
});

/** Completes the counts that a run has stored with zeros. */
export const storedCounts = (counts: unknown): SyncCounts => SyncCounts.parse({ ...noCounts, ...(counts as object) });
