import { setTimeout as pause } from 'node:timers/promises';

interface Waiting<Item, Answer> {
  item: Item;
  answered: PromiseWithResolvers<Answer>;
}

/**
 * Combines calls into batches: calls that arrive while a batch runs share the next one. Under load one transaction serves many calls, and
 * otherwise a call does not wait. `work` returns its answers in the order of the items. If a batch fails, each item is tried alone, so
 * that one bad item does not fail the others. With `everyMs`, a batch that is not full starts that long after the one before, so that more
 * calls share it.
 */
export function batchCalls<Item, Answer>(
  work: (items: Item[]) => Promise<Answer[]>,
  { maxItems = Infinity, everyMs = 0 }: { maxItems?: number; everyMs?: number } = {},
): (item: Item) => Promise<Answer> {
  const waiting: Waiting<Item, Answer>[] = [];
  let isAtWork = false;

  async function workAll(): Promise<void> {
    isAtWork = true;
    while (waiting.length > 0) {
      const mayStart = everyMs > 0 ? pause(everyMs) : undefined;
      const batch = waiting.splice(0, maxItems);
      const isDone = await workOn(batch);
      if (!isDone) for (const one of batch) await workOn([one]);
      if (waiting.length < maxItems) await mayStart;
    }
    isAtWork = false;
  }

  /** Returns false if a batch of several items failed; the failure of a single item goes to its caller. */
  async function workOn(batch: Waiting<Item, Answer>[]): Promise<boolean> {
    try {
      const answers = await work(batch.map(({ item }) => item));
      for (const [n, { answered }] of batch.entries()) answered.resolve(answers[n] as Answer);
      return true;
    } catch (error) {
      const [first, ...others] = batch;
      if (others.length === 0) first?.answered.reject(error);
      return others.length === 0;
    }
  }

  return (item) => {
    const answered = Promise.withResolvers<Answer>();
    waiting.push({ item, answered });
    if (!isAtWork) void workAll();
    return answered.promise;
  };
}
