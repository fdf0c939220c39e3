import { longestWaitMs } from './answer-in-time.ts';

/** When whoever comes now has waited for a place for long enough, by `performance.now()`. */
const soon = (): number => performance.now() + longestWaitMs;

/**
 * Runs at most `slots` pieces of work at a time and lets at most `queueLimit` wait, in order of arrival;
 * whoever comes beyond that meets `refusal` at once, and whoever has no place `until` then, 15 s from now unless said, meets it then.
 */
export function openSemaphore({
  slots,
  queueLimit,
  refusal,
}: {
  slots: number;
  queueLimit: number;
  refusal: () => Error;
}) {
  const waiting = new Set<() => void>();
  let running = 0;

  async function place(until: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const timer = setTimeout(() => {
      if (waiting.delete(resolve)) reject(refusal());
    }, until - performance.now());
    await promise.finally(() => clearTimeout(timer));
  }

  async function inSlot<T>(work: () => Promise<T>, until = soon()): Promise<T> {
    if (running >= slots) {
      if (waiting.size >= queueLimit) throw refusal();
      await place(until);
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      // The slot passes on without becoming free, so nobody who comes now overtakes who waits.
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next();
      } else {
        running -= 1;
      }
    }
  }
  return Object.assign(inSlot, {
    /** How many wait for a slot right now. */
    waiting: () => waiting.size,
  });
}

/** The same for each key by itself, as if every key had slots of its own. */
export function openSemaphores(limits: Parameters<typeof openSemaphore>[0]) {
  const byKey = new Map<string, { inSlot: ReturnType<typeof openSemaphore>; callers: number }>();

  return async function inSlotOf<T>(key: string, work: () => Promise<T>, until?: number): Promise<T> {
    const of = byKey.get(key) ?? { inSlot: openSemaphore(limits), callers: 0 };
    byKey.set(key, of);
    of.callers += 1;
    try {
      return await of.inSlot(work, until);
    } finally {
      of.callers -= 1;
      if (of.callers === 0) byKey.delete(key);
    }
  };
}

interface Room {
  slots: number;
  queueLimit: number;
}

/**
 * Slots that all keys share and none can take for itself: each key has a few of its own, and whoever has one of these waits in order
 * of arrival for one of all. Keys whose work hangs so keep others out only when there are `all.slots / each.slots` of them.
 */
export function openSharedSlots({ each, all, refusal }: { each: Room; all: Room; refusal: () => Error }) {
  const inSlotOf = openSemaphores({ ...each, refusal });
  const inSlot = openSemaphore({ ...all, refusal });
  return <T>(key: string, work: () => Promise<T>, until = soon()): Promise<T> =>
    inSlotOf(key, () => inSlot(work, until), until);
}

/** Work that waits for a place. */
interface Waiting {
  key: string;
  urgency: number;
  enter: () => void;
}

/** Places of all keys together, and of them at most so many for one key. */
interface Places {
  slots: number;
  perKey?: number;
}

/**
 * A number of places that many keys share. A free one goes to the most urgent work that waits (0 is the most urgent), among that to the
 * key that holds the fewest, then in order of arrival. What is least urgent may be held to some of the places, so that others find one
 * at once, and so may each key: work that has begun keeps its place however long it takes.
 */
export function openFairSlots({
  slots,
  perKey = slots,
  leastUrgent = { urgency: Number.POSITIVE_INFINITY, slots },
}: Places & { leastUrgent?: Places & { urgency: number } }) {
  const waiting = new Set<Waiting>();
  const all = openCounts();
  const least = openCounts();

  const isLeast = (urgency: number): boolean => urgency >= leastUrgent.urgency;
  const heldBy = (key: string): number => all.of(key);
  const hasRoom = ({ key, urgency }: Waiting): boolean =>
    heldBy(key) < perKey &&
    (!isLeast(urgency) ||
      (least.total() < leastUrgent.slots && least.of(key) < (leastUrgent.perKey ?? leastUrgent.slots)));

  function admit(): void {
    while (all.total() < slots) {
      let next: Waiting | null = null;
      for (const one of waiting) {
        if (!hasRoom(one)) continue;
        const isBefore =
          next === null ||
          one.urgency < next.urgency ||
          (one.urgency === next.urgency && heldBy(one.key) < heldBy(next.key));
        if (isBefore) next = one;
      }
      if (next === null) return;
      take(next);
    }
  }

  function take(one: Waiting): void {
    waiting.delete(one);
    all.add(one.key, 1);
    if (isLeast(one.urgency)) least.add(one.key, 1);
    one.enter();
  }

  function leave({ key, urgency }: { key: string; urgency: number }): void {
    all.add(key, -1);
    if (isLeast(urgency)) least.add(key, -1);
    admit();
  }

  /** Does the work once there is a place. Throws the signal's reason when it has to wait for too long. */
  return async function inSlot<T>(
    { key, urgency, signal }: { key: string; urgency: number; signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const entered = Promise.withResolvers<void>();
    const one: Waiting = { key, urgency, enter: entered.resolve };
    const giveUp = () => {
      if (waiting.delete(one)) entered.reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.add(one);
    admit();
    try {
      await entered.promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    try {
      return await work();
    } finally {
      leave(one);
    }
  };
}

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
