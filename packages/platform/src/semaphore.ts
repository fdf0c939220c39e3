import { longestWaitMs } from './answer-in-time.ts';

/** How many pieces of work may be under way at once, and how many may wait. */
export interface SemaphoreLimits {
  slots?: number;
  /** Of these for one key, such as a tenant. */
  perKey?: number;
  /** What is least urgent may be held to some of the slots, so that others find one at once: work keeps its slot however long it takes. */
  leastUrgent?: { urgency: number; slots: number; perKey?: number };
  /** Who would be one more waits for nothing and meets `refusal`. */
  queueLimit?: number;
  queueLimitPerKey?: number;
}

interface Entry {
  key?: string;
  /** 0 is the most urgent. */
  urgency?: number;
  /** Decides instead of urgency and slots held, asked whenever a slot is free: the smallest goes first, compared number by number. */
  rank?: () => number[];
  /** Given up then, by `performance.now()`, with `refusal`: 15 s from now unless said, and never if it is infinite. */
  until?: number;
  /** Given up once it is aborted, with its reason. Without a `refusal` it alone ends the wait. */
  signal?: AbortSignal;
}

interface Waiting {
  key: string;
  urgency: number;
  rank: () => number[];
  enter: () => void;
}

/**
 * A semaphore whose slots many keys share. A free slot goes to the most urgent work that waits, among that to the key that holds the
 * fewest, then to the one whose last turn is longest ago, then in order of arrival; where the work brings a rank, that decides.
 * Libraries for queues know no keys and bound no wait.
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
  /** When each key that holds a slot or waits for one got its last: the number of that turn. */
  const lastTurns = new Map<string, number>();
  let turns = 0;

  const isLeast = (urgency: number): boolean => urgency >= leastUrgent.urgency;
  const hasSlot = ({ key, urgency }: Waiting): boolean =>
    all.total() < slots &&
    all.of(key) < perKey &&
    (!isLeast(urgency) ||
      (least.total() < leastUrgent.slots && least.of(key) < (leastUrgent.perKey ?? leastUrgent.slots)));
  const lastTurn = (key: string): number => lastTurns.get(key) ?? 0;

  function admit(): void {
    for (;;) {
      let next: Waiting | null = null;
      let first: number[] = [];
      for (const one of waiting) {
        if (!hasSlot(one)) continue;
        const rank = one.rank();
        if (next === null || isBefore(rank, first)) [next, first] = [one, rank];
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
    if (isLeast(urgency)) least.add(key, 1);
    lastTurns.set(key, (turns += 1));
  }
  function leave({ key, urgency }: Waiting): void {
    all.add(key, -1);
    if (isLeast(urgency)) least.add(key, -1);
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
    const patienceMs = until === undefined ? longestWaitMs : until - performance.now();
    const timer = refusal && patienceMs !== Infinity && setTimeout(() => giveUp(refusal()), patienceMs);
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
    /** How many wait for a slot right now. */
    waiting: () => queued.total(),
  });
}

/** Whether the first difference is in favour of `one`. */
const isBefore = (one: number[], other: number[]): boolean =>
  (one.map((number, n) => number - (other[n] ?? 0)).find((difference) => difference !== 0) ?? 0) < 0;

/** How many there are, in all and of each key. */
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
