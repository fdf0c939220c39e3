/**
 * Runs at most `slots` pieces of work at a time and lets at most `queueLimit` wait, in order of arrival;
 * whoever comes beyond that meets `refusal` at once.
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
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inSlot<T>(work: () => Promise<T>): Promise<T> {
    if (running >= slots) {
      if (waiting.length >= queueLimit) throw refusal();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      // The slot passes on without becoming free, so nobody who comes now overtakes who waits.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }
  return Object.assign(inSlot, {
    /** How many wait for a slot right now. */
    waiting: () => waiting.length,
  });
}

/** The same for each key by itself, as if every key had slots of its own. */
export function openSemaphores(limits: Parameters<typeof openSemaphore>[0]) {
  const byKey = new Map<string, { inSlot: ReturnType<typeof openSemaphore>; callers: number }>();

  return async function inSlotOf<T>(key: string, work: () => Promise<T>): Promise<T> {
    const of = byKey.get(key) ?? { inSlot: openSemaphore(limits), callers: 0 };
    byKey.set(key, of);
    of.callers += 1;
    try {
      return await of.inSlot(work);
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
  return <T>(key: string, work: () => Promise<T>): Promise<T> => inSlotOf(key, () => inSlot(work));
}
