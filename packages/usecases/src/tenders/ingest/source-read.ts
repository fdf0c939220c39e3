import type { Tx } from '@portal/db/open';
import { sentences } from '@portal/domain/sentences';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { isSettingsSource } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import { matchTenders } from '../jobs.ts';
import { missingNotices, maxNewADay, noteMissingNotices, storedOutcomes, storeNotices } from '../store-notices.ts';

/** Another worker has taken over the run, or the run has ended. */
export class TakenOverError extends Error {}

/** One read of a source: it stores notices while it holds its run, and collects the outcome. */
export interface SourceRead {
  system: SystemContext;
  source: string;
  /** The tenant for which a personal feed is read; null for platform feeds and public sources. */
  tenantId: string | null;
  signal: AbortSignal;
  progress: Work['progress'];
  /** No mail reports the notices stored from now on: this is the first read of the source. */
  suppressAlerts(): void;
  store(notices: readonly NoticeRecord[]): Promise<void>;
  refuse(refused: readonly { name: string; reason: string }[]): void;
  /** Finds notices of a day that the source no longer lists. */
  findMissing(sourceDay: string, shownKeys: string[]): Promise<void>;
  /** Counts the missing notices in the transaction that ends the read, so that a read that is interrupted and repeated counts once. */
  countMissing(tx: Tx): Promise<void>;
  newCount(): number;
  /** New notices above the limit per day, left for a later read. */
  withheldCount(): number;
  /** A sentence or two about notices that were left out; null if there were none. */
  complaint(): string | null;
}

const shownRefusals = 5;
const maxComplaint = 1_000;

export function beginSourceRead(
  given: SystemContext,
  { source, tenantId }: Pick<SourceRead, 'source' | 'tenantId'>,
  { run, signal, progress }: Pick<Work, 'signal' | 'progress'> & { run: RunAtWork },
): SourceRead {
  // Every transaction checks that this worker still holds the run, so a worker that stalled cannot write any more.
  const system: SystemContext = {
    ...given,
    acrossTenants: (why, work) =>
      given.acrossTenants(why, async (tx) => {
        if (!(await holdRun(tx, run))) throw new TakenOverError();
        return work(tx);
      }),
  };
  // One metric label for all feeds: there may be thousands.
  const label = isSettingsSource(source) ? source : 'rss';
  const count = (outcome: string, notices: number) => given.metrics.countTenderNotices(label, outcome, notices);
  const refusals: string[] = [];
  let refusedCount = 0;
  let added = 0;
  let withheld = 0;
  let isFirstRead = false;
  const missing: string[] = [];
  return {
    system,
    source,
    tenantId,
    signal,
    progress,
    suppressAlerts() {
      isFirstRead = true;
    },
    async store(notices) {
      const stored = await storeNotices(system, notices, { signal, isFirstRead });
      if (stored.tenderIds.length > 0) await system.enqueue(matchTenders, {});
      added += stored.added;
      withheld += stored.withheld;
      for (const outcome of storedOutcomes) count(outcome, stored[outcome]);
    },
    refuse(refused) {
      refusedCount += refused.length;
      for (const { name, reason } of refused) if (refusals.length < shownRefusals) refusals.push(`${name} ${reason}`);
      count('unreadable', refused.length);
    },
    async findMissing(sourceDay, shownKeys) {
      missing.push(...(await missingNotices(system, { sourcePortal: source, sourceDay, shownKeys })));
    },
    async countMissing(tx) {
      count('withdrawn', await noteMissingNotices(tx, missing));
    },
    newCount: () => added,
    withheldCount: () => withheld,
    complaint() {
      const tooMany = `More than ${maxNewADay} new entries came within 24 hours: ${withheld} were left for later.`;
      const leftOut = refusedCount === 1 ? 'One item was' : `${refusedCount} items were`;
      const moreCount = refusedCount - refusals.length;
      const remarks = [
        refusedCount > 0 ? `${leftOut} left out: ${sentences(refusals)}` : '',
        moreCount > 0 ? `And ${moreCount} more.` : '',
        withheld > 0 ? tooMany : '',
      ];
      return sentences(remarks).toWellFormed().slice(0, maxComplaint) || null;
    },
  };
}
