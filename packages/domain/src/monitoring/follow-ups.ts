import { DAY_SEC, type Epoch, HOUR_SEC, type KeptParts, MINUTE_SEC } from './parts.ts';

/** A question to a server that is not asked in every run. */
export interface FollowUp {
  /** Names the answer where it is kept. */
  key: string;
  /** Which comes first of those that are equally overdue, 1 first: the order of the reference. */
  order: number;
  /** The same within that order, smallest first. */
  rank?: number;
  /** How old the answer may grow before it is asked again, seconds. */
  maxAge: number;
  /** Not asked in this run, though its answer is still wanted. */
  waits?: boolean;
}

/** Follow-ups of one run (specification, Limits). */
export const maxFollowUps = 10;

/** Answers older than this say nothing any more. */
export const believedForSec = DAY_SEC;
/** What is older than this goes first, so that it is read before it is no longer believed. */
const firstAfterSec = believedForSec - 2 * HOUR_SEC;
/** A part that could not be read is tried again before its usual time. */
const retrySec = 15 * MINUTE_SEC;

/**
 * Which of these are asked in this run, the most overdue first: what was never read, then what is about to be no longer believed,
 * then by how many times its `maxAge` an answer is old. Where a run has no room for all, each is asked less often, and none never.
 */
export function planFollowUps<Wish extends FollowUp>(
  wishes: readonly Wish[],
  { parts, now, most = maxFollowUps }: { parts: KeptParts; now: Epoch; most?: number },
): Wish[] {
  return wishes
    .filter(({ waits = false }) => !waits)
    .map((wish) => {
      const part = Object.hasOwn(parts, wish.key) ? parts[wish.key] : undefined;
      const at = part?.readAt ?? 0;
      const age = now - at;
      // One that fails again and again keeps its place in the line of those that do not.
      const isDue = age >= (part && 'failure' in part ? Math.min(wish.maxAge, retrySec) : wish.maxAge);
      return { wish, isDue, firstSince: age > firstAfterSec ? at : Infinity, overdue: age / wish.maxAge };
    })
    .filter(({ isDue }) => isDue)
    .toSorted(
      (a, b) =>
        compare(a.firstSince, b.firstSince) ||
        compare(b.overdue, a.overdue) ||
        a.wish.order - b.wish.order ||
        (a.wish.rank ?? 0) - (b.wish.rank ?? 0),
    )
    .slice(0, most)
    .map(({ wish }) => wish);
}

/** Also of two that are infinite. */
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
