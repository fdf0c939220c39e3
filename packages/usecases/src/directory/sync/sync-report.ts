import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { ldapSyncRuns } from '@portal/db/schema/directory';
import { runs } from '@portal/db/schema/platform/operations';
import { type SyncCounts, Warnings } from '@portal/domain/directory/sync';
import type { TenantContext } from '@portal/platform/context';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import { recordAudit } from '../audit.ts';
import { storedCounts } from '../list-sync-runs.ts';

/** Another worker has taken over the run, so this one must stop writing. */
export class TakenOverError extends Error {
  constructor() {
    super('Another worker has taken over this synchronization.');
    this.name = 'TakenOverError';
  }
}

/** Collects the results of the current run and stores them. */
export interface SyncReport {
  /** When this attempt began, by the database's clock. */
  now: Date;
  counts: SyncCounts;
  warnings: Warnings;
  /** Runs a batch in a transaction and stores the counts it returns. Throws if this worker no longer owns the run. */
  inBatch(work: (tx: Tx) => Promise<Partial<SyncCounts>>): Promise<void>;
  /** Records the accounts that were switched off or on again in the audit log, in the transaction of the change. */
  recordSwitched(tx: Tx, how: 'off' | 'on again', usernames: readonly string[]): Promise<void>;
  /** Stores the outcome. A summary also goes into the audit log. */
  close(outcome: { isBlocked: boolean; summary: string | null }): Promise<void>;
}

/** Maximum usernames in one audit entry; further ones are only counted. */
const maxNamed = 50;

/** Opens the report of a run. Keeps the counts of changes from earlier attempts, but not those of people read. */
export async function openSyncReport(ctx: TenantContext, run: RunAtWork): Promise<SyncReport> {
  const found = await ctx.tx(async (tx) => {
    if (!(await holdRun(tx, run))) throw new TakenOverError();
    const [row] = await tx
      .update(ldapSyncRuns)
      .set({ isBlocked: false, warnings: [] })
      .where(eq(ldapSyncRuns.id, run.id))
      .returning({ counts: ldapSyncRuns.counts });
    const [starter] = await tx
      .select({ now: sql<string>`now()`.mapWith(runs.createdAt), id: users.id, username: users.username })
      .from(runs)
      .leftJoin(users, eq(users.id, runs.startedBy))
      .where(eq(runs.id, run.id));
    return { counts: storedCounts(row?.counts ?? {}), starter };
  });
  const { starter } = found;
  const actor = starter?.id && starter.username ? { id: starter.id, username: starter.username } : undefined;
  const warnings = new Warnings();
  const record = (tx: Tx, summary: string) =>
    recordAudit(tx, { ...(actor && { actor }), ip: null }, { action: 'ldap.sync', tenantId: ctx.tenantId, summary });

  const report: SyncReport = {
    now: starter?.now ?? ctx.now(),
    counts: { ...found.counts, read: 0, skipped: 0 },
    warnings,
    async inBatch(work) {
      report.counts = await ctx.tx(async (tx) => {
        if (!(await holdRun(tx, run))) throw new TakenOverError();
        const counts = added(report.counts, await work(tx));
        await tx.update(ldapSyncRuns).set({ counts }).where(eq(ldapSyncRuns.id, run.id));
        return counts;
      });
    },
    async recordSwitched(tx, how, usernames) {
      if (usernames.length === 0) return;
      const named = usernames.toSorted().slice(0, maxNamed).join(', ');
      const more = usernames.length - maxNamed;
      await record(tx, `The synchronization switched accounts ${how}: ${named}${more > 0 ? ` and ${more} more` : ''}.`);
    },
    async close({ isBlocked, summary }) {
      await ctx.tx(async (tx) => {
        if (!(await holdRun(tx, run))) throw new TakenOverError();
        await tx
          .update(ldapSyncRuns)
          .set({ isBlocked, counts: report.counts, warnings: warnings.list() })
          .where(eq(ldapSyncRuns.id, run.id));
        if (summary !== null) await record(tx, summary);
      });
    },
  };
  return report;
}

const added = (counts: SyncCounts, more: Partial<SyncCounts>): SyncCounts => {
  const sum = { ...counts };
  for (const [name, count] of Object.entries(more) as [keyof SyncCounts, number][]) sum[name] += count;
  return sum;
};
