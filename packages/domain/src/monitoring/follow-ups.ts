import { DAY_SEC, type Epoch, HOUR_SEC, type CachedAnswers, MINUTE_SEC } from './poll-answers.ts';

/** A question that a run does not ask every time. */
export interface FollowUp {
  /** The key under which the answer is stored. */
  key: string;
  /** Rank among equally overdue questions, 1 first. */
  order: number;
  /** Rank within the same `order`, smallest first. */
  rank?: number;
  /** The age in seconds at which the answer is read again. */
  maxAge: number;
  /** Not asked in this run; the stored answer stays. */
  isPostponed?: boolean;
}

/** Follow-up questions of one run. */
export const maxFollowUps = 10;

/** An older answer counts as unknown. */
export const validForSec = DAY_SEC;
/** Older answers are read first, before they expire. */
const firstAfterSec = validForSec - 2 * HOUR_SEC;
/** A failed question is asked again before its usual time. */
const retrySec = 15 * MINUTE_SEC;

/**
 * The questions to ask in this run, most overdue first: never answered, then about to expire, then by age relative to `maxAge`. If a
 * run cannot ask all of them, each is asked less often, but every question gets its turn. By `order` alone, the first questions would use
 * up every run of a cluster of ten nodes.
 */
export function planFollowUps<Question extends FollowUp>(
  questions: readonly Question[],
  { parts, now, limit = maxFollowUps }: { parts: CachedAnswers; now: Epoch; limit?: number },
): Question[] {
  return questions
    .filter(({ isPostponed = false }) => !isPostponed)
    .map((question) => {
      const answer = Object.hasOwn(parts, question.key) ? parts[question.key] : undefined;
      const at = answer?.readAt ?? 0;
      const age = now - at;
      // A question that keeps failing is ranked like the others.
      const isDue = age >= (answer && 'failure' in answer ? Math.min(question.maxAge, retrySec) : question.maxAge);
      return { question, isDue, firstSince: age > firstAfterSec ? at : Infinity, overdue: age / question.maxAge };
    })
    .filter(({ isDue }) => isDue)
    .toSorted(
      (a, b) =>
        compare(a.firstSince, b.firstSince) ||
        compare(b.overdue, a.overdue) ||
        a.question.order - b.question.order ||
        (a.question.rank ?? 0) - (b.question.rank ?? 0),
    )
    .slice(0, limit)
    .map(({ question }) => question);
}

/** Also works for two infinite values, whose difference is NaN. */
const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);
