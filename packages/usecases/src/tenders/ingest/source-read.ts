import type { Tx } from '@portal/db/open';
import { sentences } from '@portal/domain/sentences';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { isSettingsSource } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import { matchTenders } from '../jobs.ts';
import { missingNotices, maxNewADay, noteMissingNotices, storedOutcomes, storeNotices } from '../store-notices.ts';

/** Another worker has taken the run up, or it is over. */
export class TakenOverError extends Error {}

/** One look at a source: what it stores, in the name of its run alone, and what is to be said of it afterwards. */
export interface SourceRead {
  system: SystemContext;
  source: string;
  signal: AbortSignal;
  progress: Work['progress'];
  /** What is stored from now on is no news to anybody: the source has never been read to its end. */
  tellNobody(): void;
  store(notices: readonly NoticeRecord[]): Promise<void>;
  refuse(refused: readonly { name: string; reason: string }[]): void;
  /** Looks for notices of a day that its source does not show any more. */
  findMissing(sourceDay: string, shownKeys: string[]): Promise<void>;
  /** Counts what is missing, in the transaction that ends the look: one that was interrupted and is read again counts once. */
  countMissing(tx: Tx): Promise<void>;
  newCount(): number;
  /** New notices that were left for another day. */
  withheldCount(): number;
  /** What was left out, in a sentence or two; null when nothing was. */
  complaint(): string | null;
}

const shownRefusals = 5;
const maxComplaint = 1_000;

export function beginSourceRead(
  given: SystemContext,
  source: string,
  { run, signal, progress }: Pick<Work, 'signal' | 'progress'> & { run: RunAtWork },
): SourceRead {
  // Every transaction of a look makes sure that it is still this worker's: one that stalled does no more harm.
  const system: SystemContext = {
    ...given,
    acrossTenants: (why, work) =>
      given.acrossTenants(why, async (tx) => {
        if (!(await holdRun(tx, run))) throw new TakenOverError();
        return work(tx);
      }),
  };
  // One series for all feeds: there may be thousands.
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
    signal,
    progress,
    tellNobody() {
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
      const leftOut = refusedCount === 1 ? 'One thing was' : `${refusedCount} things were`;
      const unsaid = refusedCount - refusals.length;
      const remarks = [
        refusedCount > 0 ? `${leftOut} left out: ${sentences(refusals)}` : '',
        unsaid > 0 ? `And ${unsaid} more.` : '',
        withheld > 0 ? tooMany : '',
      ];
      return sentences(remarks).toWellFormed().slice(0, maxComplaint) || null;
    },
  };
}
