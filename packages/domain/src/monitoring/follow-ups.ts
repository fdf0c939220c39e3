import { type Epoch } from './parts.ts';

/** A question to a backup server that is not asked in every run. */
export interface FollowUp {
  /** Names the answer where it is kept. */
  key: string;
  /** In which order the reference asks, 1 first. */
  order: number;
  /** Within that order, smallest first; by default what was asked longest ago. */
  rank?: number;
  /** How old the answer may grow before it is asked again, seconds. */
  maxAge: number;
}

/** Follow-ups of one run (specification, Limits). */
export const mostFollowUps = 10;

/**
 * Which of these are asked in this run, and which wait for a later one although their time has come. An answer that was just read
 * goes to the end of its order, so the next run goes on where this one stopped.
 */
export function planFollowUps<Wish extends FollowUp>(
  wishes: readonly Wish[],
  { readAt, now, most = mostFollowUps }: { readAt: (key: string) => Epoch | null; now: Epoch; most?: number },
): { ask: Wish[]; left: Wish[] } {
  const due = wishes
    .map((wish) => ({ wish, at: readAt(wish.key) ?? 0 }))
    .filter(({ wish, at }) => now - at >= wish.maxAge)
    .toSorted((a, b) => a.wish.order - b.wish.order || (a.wish.rank ?? 0) - (b.wish.rank ?? 0) || a.at - b.at)
    .map(({ wish }) => wish);
  return { ask: due.slice(0, most), left: due.slice(most) };
}

/** Answers older than this say nothing any more. */
export const believedForSec = 24 * 3_600;
