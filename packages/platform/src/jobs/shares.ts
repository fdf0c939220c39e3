import { MINUTE, SECOND } from '@portal/domain/time';

/** Minimum delay of a deferred job. */
const minWaitMs = SECOND;
/** Between deferred jobs of one tenant, so that any number of them costs little. */
const stepMs = 250;
/** Maximum delay of a deferred job. */
const maxWaitMs = 5 * MINUTE;

/** A tenant's jobs in a queue: how many are running, and when the last deferred one returns. */
interface Share {
  atWork: number;
  lastReturnsAt: number;
}

/**
 * Counts the slots of a queue that each tenant holds in this process. Once a tenant's share is used up, its further jobs are deferred and
 * the slots stay free for other tenants.
 */
export function openShares(perTenant: number) {
  const shares = new Map<string, Share>();
  return {
    /** Takes a slot of the share; if none is left, returns the milliseconds to wait before the next attempt. */
    enter(key: string): { waitMs: number } | null {
      const share = shares.get(key) ?? { atWork: 0, lastReturnsAt: 0 };
      if (share.atWork < perTenant) {
        share.atWork += 1;
        shares.set(key, share);
        return null;
      }
      const now = performance.now();
      share.lastReturnsAt = Math.min(Math.max(now + minWaitMs, share.lastReturnsAt + stepMs), now + maxWaitMs);
      return { waitMs: Math.round(share.lastReturnsAt - now) };
    },
    leave(key: string): void {
      const share = shares.get(key);
      if (!share) return;
      share.atWork -= 1;
      if (share.atWork === 0) shares.delete(key);
    },
  };
}

export type Shares = ReturnType<typeof openShares>;
