import { readCloud } from '@portal/connectors/cloud-status/read-cloud';
import { batchCalls } from '@portal/platform/batch-calls';
import type { TenantContext } from '@portal/platform/context';
import { jobLimits } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { type Claim, releaseClaims } from './claims.ts';
import { settleChecks } from './settle-checks.ts';

/** Checks at once in one job. A tenant may have a manual job in addition to the scheduled one. */
const maxAtOnce = 100;
const slotsOf = resource(() => openSemaphore(jobLimits.cloudChecks));
/**
 * Instances claimed ahead, so that no slot stays empty during a claim: as many as are being checked, but at least this number. With any
 * number of slots, checks of ten seconds then end within their lease.
 */
const minClaimedAhead = 20;

interface Checking {
  claim: (limit: number) => Promise<Claim[]>;
  signal: AbortSignal;
  /** Stops claiming after this time, so that a tenant with slow clouds does not delay others. */
  turnMs?: number;
  /** Called after each check with the number of checks so far. */
  onChecked?: (count: number) => void;
}

/**
 * Claims and checks instances in parallel until none is left or the turn is over, and says whether some may be left. A slow cloud
 * occupies one slot and delays no other check. Throws the signal's reason or the first error, after releasing the unchecked claims.
 */
export async function checkInstances(
  ctx: TenantContext,
  { claim, signal, turnMs = Number.POSITIVE_INFINITY, onChecked = () => undefined }: Checking,
): Promise<{ isMoreLeft: boolean }> {
  const endsAt = performance.now() + turnMs;
  const settle = batchCalls((results: Parameters<typeof settleChecks>[1]) => settleChecks(ctx, results));
  const inSlot = slotsOf(ctx);
  const ahead: Claim[] = [];
  const unsettled = new Set<Claim>();
  const errors: unknown[] = [];
  let claimState = 'unknown' as 'unknown' | 'claiming' | 'exhausted';
  let pending = 0;
  let changed = Promise.withResolvers<void>();
  let checked = 0;

  const isOver = () => errors.length > 0 || signal.aborted || performance.now() > endsAt;
  const begin = (work: Promise<void>) => {
    pending += 1;
    void work
      .catch((error: unknown) => void errors.push(error))
      .finally(() => {
        pending -= 1;
        changed.resolve();
      });
  };
  const claimMore = async (limit: number) => {
    claimState = 'claiming';
    const claims = await claim(limit);
    ahead.push(...claims);
    claimState = claims.length < limit ? 'exhausted' : 'unknown';
  };
  const check = async (claimed: Claim) => {
    unsettled.add(claimed);
    const reading = await readCloud(claimed.statusUrl, ctx.config.outbound.byAdmins, signal);
    // Storing the result does not occupy the slot.
    begin(
      settle({ claim: claimed, reading }).then(() => {
        unsettled.delete(claimed);
        onChecked((checked += 1));
      }),
    );
  };

  let checking = 0;
  let waitingForSlot = 0;
  const checkNext = async () => {
    waitingForSlot -= 1;
    const claimed = isOver() ? undefined : ahead.shift();
    if (!claimed) return;
    checking += 1;
    changed.resolve();
    await check(claimed).finally(() => (checking -= 1));
  };
  for (;;) {
    changed = Promise.withResolvers<void>();
    if (!isOver()) {
      const maxAhead = Math.max(minClaimedAhead, checking);
      if (claimState === 'unknown' && ahead.length <= maxAhead / 2) begin(claimMore(maxAhead - ahead.length));
      for (let free = Math.min(maxAtOnce - checking, ahead.length) - waitingForSlot; free > 0; free -= 1) {
        waitingForSlot += 1;
        begin(inSlot(checkNext, { key: ctx.tenantId, signal }));
      }
    }
    if (pending === 0) break;
    await changed.promise;
  }
  await releaseClaims(ctx, [...ahead, ...unsettled]);
  signal.throwIfAborted();
  if (errors.length > 0) throw errors[0];
  return { isMoreLeft: claimState !== 'exhausted' || ahead.length > 0 };
}
