interface Waiting<Item, Result> {
  item: Item;
  done: PromiseWithResolvers<Result>;
}

/**
 * Work that costs little more for several items than for one: those that come while a batch is at work share the next one, and a
 * single one waits for nobody. `work` answers a result for each item, in their order.
 */
export function together<Item, Result>(work: (batch: Item[]) => Promise<Result[]>): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let isAtWork = false;

  async function workAll(): Promise<void> {
    isAtWork = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const isDone = await workOn(batch);
      // What one item meets must not keep the others from theirs.
      if (!isDone) for (const one of batch) await workOn([one]);
    }
    isAtWork = false;
  }

  /** Of a single item the failure is told to who waits for it. */
  async function workOn(batch: Waiting<Item, Result>[]): Promise<boolean> {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [index, { done }] of batch.entries()) done.resolve(results[index] as Result);
      return true;
    } catch (error) {
      const [first, ...others] = batch;
      if (others.length === 0) first?.done.reject(error);
      return others.length === 0;
    }
  }

  return (item) => {
    const done = Promise.withResolvers<Result>();
    waiting.push({ item, done });
    if (!isAtWork) void workAll();
    return done.promise;
  };
}
