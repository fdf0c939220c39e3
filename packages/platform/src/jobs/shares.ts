import { MINUTE, SECOND } from '@portal/domain/time';

/** The least a job waits that was put back. */
const shortestMs = SECOND;
/** Between jobs of one tenant that were put back: however many wait, looking at them again costs little. */
const stepMs = 250;
/** The longest a job waits until it is looked at again. */
const longestMs = 5 * MINUTE;

/** A tenant's jobs in a queue: how many are at work, and when the last of those that were put back comes again. */
interface Share {
  atWork: number;
  lastComesAt: number;
}

/**
 * How many places of a queue each tenant holds in this process. A tenant whose share is taken waits for itself alone: its next jobs are put
 * back, and the places stay free for other tenants.
 */
export function openShares(perTenant: number) {
  const shares = new Map<string, Share>();
  return {
    /** Takes a place of the share. When none is left, says how long the job is to wait before it asks again, milliseconds. */
    enter(key: string): { waitMs: number } | null {
      const share = shares.get(key) ?? { atWork: 0, lastComesAt: 0 };
      if (share.atWork < perTenant) {
        share.atWork += 1;
        shares.set(key, share);
        return null;
      }
      const now = performance.now();
      share.lastComesAt = Math.min(Math.max(now + shortestMs, share.lastComesAt + stepMs), now + longestMs);
      return { waitMs: Math.round(share.lastComesAt - now) };
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
