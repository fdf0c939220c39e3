import { readCloud } from '@portal/connectors/cloud-status/read-cloud';
import type { TenantContext } from '@portal/platform/context';
import { together } from '@portal/platform/together';
import { type Claim, releaseClaims } from './claims.ts';
import { settleChecks } from './settle-checks.ts';

/** Checks of one tenant at once. */
const maxAtOnce = 100;
/** Claimed ahead, so that no place is empty while the database is asked. Checks of ten seconds still end within their lease. */
const maxAhead = 100;

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
  const settle = together((results: Parameters<typeof settleChecks>[1]) => settleChecks(ctx, results));
  const ahead: Claim[] = [];
  const unsettled = new Set<Claim>();
  const underWay = new Set<Promise<void>>();
  const troubles: unknown[] = [];
  let supply = 'unknown' as 'unknown' | 'claiming' | 'dry';
  let checked = 0;

  const begin = (work: Promise<void>) => {
    const ending = work.catch((error: unknown) => void troubles.push(error)).finally(() => underWay.delete(ending));
    underWay.add(ending);
  };
  const claimMore = async () => {
    supply = 'claiming';
    const room = maxAhead - ahead.length;
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
  for (;;) {
    const isOver = troubles.length > 0 || signal.aborted || performance.now() > endsAt;
    if (!isOver && supply === 'unknown' && ahead.length <= maxAhead / 2) begin(claimMore());
    const free = isOver ? 0 : Math.min(maxAtOnce - atWork, ahead.length);
    for (const claimed of ahead.splice(0, free)) {
      atWork += 1;
      begin(check(claimed).finally(() => (atWork -= 1)));
    }
    if (underWay.size === 0) break;
    await Promise.race(underWay);
  }
  await releaseClaims(ctx, [...ahead, ...unsettled]);
  signal.throwIfAborted();
  if (troubles.length > 0) throw troubles[0];
  return { isMoreLeft: supply !== 'dry' || ahead.length > 0 };
}
