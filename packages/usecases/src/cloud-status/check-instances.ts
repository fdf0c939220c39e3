import { readCloud } from '@portal/connectors/cloud-status/read-cloud';
import { batchCalls } from '@portal/platform/batch-calls';
import type { TenantContext } from '@portal/platform/context';
import { jobLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { type Claim, releaseClaims } from './claims.ts';
import { settleChecks } from './settle-checks.ts';

/** Checks at once in one job; a tenant may have a job by hand beside the one that is due. */
const maxAtOnce = 100;
const inPlaceOf = resource(() => openSemaphore(jobLimits.cloudChecks));
/**
 * Claimed ahead, so that no place is empty while the database is asked: as many as are at work, but some when none is. Whatever the
 * number of places, checks of ten seconds so end within their lease.
 */
const leastAhead = 20;

interface Checking {
  claim: (limit: number) => Promise<Claim[]>;
  signal: AbortSignal;
  /** Nothing is claimed after this long, so that a tenant of slow clouds lets others have a turn. */
  turnMs?: number;
  /** Told after each check how many there have been. */
  onChecked?: (count: number) => void;
}

/**
 * Checks what can be claimed, so many at once, until nothing is left or the turn is over; says whether something may be left. A slow
 * cloud takes one place and delays no other. Throws the signal's reason or the first error, after handing back what was not checked.
 */
export async function checkInstances(
  ctx: TenantContext,
  { claim, signal, turnMs = Number.POSITIVE_INFINITY, onChecked = () => undefined }: Checking,
): Promise<{ isMoreLeft: boolean }> {
  const endsAt = performance.now() + turnMs;
  const settle = batchCalls((results: Parameters<typeof settleChecks>[1]) => settleChecks(ctx, results));
  const inPlace = inPlaceOf(ctx);
  const ahead: Claim[] = [];
  const unsettled = new Set<Claim>();
  const troubles: unknown[] = [];
  let supply = 'unknown' as 'unknown' | 'claiming' | 'dry';
  let underWay = 0;
  let changed = Promise.withResolvers<void>();
  let checked = 0;

  const isOver = () => troubles.length > 0 || signal.aborted || performance.now() > endsAt;
  const begin = (work: Promise<void>) => {
    underWay += 1;
    void work
      .catch((error: unknown) => void troubles.push(error))
      .finally(() => {
        underWay -= 1;
        changed.resolve();
      });
  };
  const claimMore = async (room: number) => {
    supply = 'claiming';
    const claims = await claim(room);
    ahead.push(...claims);
    supply = claims.length < room ? 'dry' : 'unknown';
  };
  const check = async (claimed: Claim) => {
    unsettled.add(claimed);
    const reading = await readCloud(claimed.statusUrl, ctx.config.outbound.byAdmins, signal);
    // Its place is free for the next one while this is written.
    begin(
      settle({ claim: claimed, reading }).then(() => {
        unsettled.delete(claimed);
        onChecked((checked += 1));
      }),
    );
  };

  let atWork = 0;
  let waiting = 0;
  const checkNext = async () => {
    waiting -= 1;
    const claimed = isOver() ? undefined : ahead.shift();
    if (!claimed) return;
    atWork += 1;
    changed.resolve();
    await check(claimed).finally(() => (atWork -= 1));
  };
  for (;;) {
    changed = Promise.withResolvers<void>();
    if (!isOver()) {
      const maxAhead = Math.max(leastAhead, atWork);
      if (supply === 'unknown' && ahead.length <= maxAhead / 2) begin(claimMore(maxAhead - ahead.length));
      for (let free = Math.min(maxAtOnce - atWork, ahead.length) - waiting; free > 0; free -= 1) {
        waiting += 1;
        begin(inPlace(checkNext, { key: ctx.tenantId, signal }));
      }
    }
    if (underWay === 0) break;
    await changed.promise;
  }
  await releaseClaims(ctx, [...ahead, ...unsettled]);
  signal.throwIfAborted();
  if (troubles.length > 0) throw troubles[0];
  return { isMoreLeft: supply !== 'dry' || ahead.length > 0 };
}
