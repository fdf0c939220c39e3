import { longestWaitMs } from './answer-in-time.ts';

/** How much work may run concurrently, and how much may wait. */
export interface SemaphoreLimits {
  slots?: number;
  /** Maximum slots for one key, such as a tenant. */
  perKey?: number;
  /** Limits the least urgent work to some of the slots, so that other work gets one at once: running work keeps its slot. */
  leastUrgent?: { urgency: number; slots: number; perKey?: number };
  /** Work beyond this limit does not wait but throws `refusal`. */
  queueLimit?: number;
  queueLimitPerKey?: number;
}

interface Entry {
  key?: string;
  /** 0 is the most urgent. */
  urgency?: number;
  /** Replaces the usual order. Called whenever a slot is free; the smallest rank goes first, compared number by number. */
  rank?: () => number[];
  /** Stops waiting at this time of `performance.now()` and throws `refusal`. Default: in 15 s; Infinity: never. */
  until?: number;
  /** Stops waiting on abort and throws its reason. Without a `refusal`, only the signal ends the wait. */
  signal?: AbortSignal;
}

interface Waiting {
  key: string;
  urgency: number;
  rank: () => number[];
  enter: () => void;
}

/**
 * A semaphore whose slots several keys share. A free slot goes to the most urgent waiting work, then to the key with the fewest slots, then
 * to the key whose last turn is longest ago, then in order of arrival; a `rank` replaces this order.
 * Own code, because queue libraries have no keys and do not limit waiting times.
 */
export function openSemaphore({
  slots = Infinity,
  perKey = slots,
  leastUrgent = { urgency: Infinity, slots },
  queueLimit = Infinity,
  queueLimitPerKey = queueLimit,
  refusal,
}: SemaphoreLimits & { refusal?: () => Error }) {
  const waiting = new Set<Waiting>();
  const all = openCounts();
  const least = openCounts();
  const queued = openCounts();
  /** Number of the last turn of each key that holds or waits for a slot. */
  const lastTurns = new Map<string, number>();
  let turns = 0;

  const isLeastUrgent = (urgency: number): boolean => urgency >= leastUrgent.urgency;
  const hasSlot = ({ key, urgency }: Waiting): boolean =>
    all.total() < slots &&
    all.of(key) < perKey &&
    (!isLeastUrgent(urgency) ||
      (least.total() < leastUrgent.slots && least.of(key) < (leastUrgent.perKey ?? leastUrgent.slots)));
  const lastTurn = (key: string): number => lastTurns.get(key) ?? 0;

  function admit(): void {
    for (;;) {
      let next: Waiting | null = null;
      let bestRank: number[] = [];
      for (const one of waiting) {
        if (!hasSlot(one)) continue;
        const rank = one.rank();
        if (next === null || isBefore(rank, bestRank)) [next, bestRank] = [one, rank];
      }
      if (next === null) return;
      take(next);
      stopWaiting(next);
      next.enter();
    }
  }
  function stopWaiting(one: Waiting): boolean {
    const isWaiting = waiting.delete(one);
    if (isWaiting) queued.add(one.key, -1);
    forgetTurn(one.key);
    return isWaiting;
  }
  function take({ key, urgency }: Waiting): void {
    all.add(key, 1);
    if (isLeastUrgent(urgency)) least.add(key, 1);
    lastTurns.set(key, (turns += 1));
  }
  function leave({ key, urgency }: Waiting): void {
    all.add(key, -1);
    if (isLeastUrgent(urgency)) least.add(key, -1);
    forgetTurn(key);
    admit();
  }
  function forgetTurn(key: string): void {
    if (all.of(key) === 0 && queued.of(key) === 0) lastTurns.delete(key);
  }

  async function slotFor(one: Waiting, { until, signal }: Entry): Promise<void> {
    if (queued.total() >= queueLimit || queued.of(one.key) >= queueLimitPerKey) throw refusal?.();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    one.enter = resolve;
    waiting.add(one);
    queued.add(one.key, 1);
    const giveUp = (reason: unknown) => stopWaiting(one) && reject(reason);
    const abort = () => giveUp(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const maxWaitMs = until === undefined ? longestWaitMs : until - performance.now();
    const timer = refusal && maxWaitMs !== Infinity && setTimeout(() => giveUp(refusal()), maxWaitMs);
    try {
      await promise;
    } finally {
      if (timer) clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async function inSlot<T>(work: () => Promise<T>, entry: Entry = {}): Promise<T> {
    entry.signal?.throwIfAborted();
    const { key = '', urgency = 0, rank = () => [urgency, all.of(key), lastTurn(key)] } = entry;
    const one: Waiting = { key, urgency, rank, enter: () => undefined };
    if (hasSlot(one)) take(one);
    else await slotFor(one, entry);
    try {
      return await work();
    } finally {
      leave(one);
    }
  }
  return Object.assign(inSlot, {
    /** Number of waiting entries. */
    waiting: () => queued.total(),
  });
}

/** Lexicographic comparison. */
const isBefore = (one: number[], other: number[]): boolean =>
  (one.map((number, n) => number - (other[n] ?? 0)).find((difference) => difference !== 0) ?? 0) < 0;

/** Counts in total and per key. */
function openCounts() {
  const counts = new Map<string, number>();
  let total = 0;
  const of = (key: string): number => counts.get(key) ?? 0;
  return {
    total: () => total,
    of,
    add(key: string, more: number): void {
      total += more;
      const count = of(key) + more;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}
