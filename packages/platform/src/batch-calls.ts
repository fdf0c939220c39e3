interface Waiting<Item, Answer> {
  item: Item;
  answered: PromiseWithResolvers<Answer>;
}

/**
 * Does work on several items at once: those that come while a batch is under way share the next one, so that a busy time takes a
 * transaction for many and a quiet one waits for nobody. `work` answers in the order of its items. When it fails, each is tried
 * alone, so that what one of them meets does not keep the others from theirs.
 */
export function batchCalls<Item, Answer>(
  work: (items: Item[]) => Promise<Answer[]>,
  { most = Infinity }: { most?: number } = {},
): (item: Item) => Promise<Answer> {
  const waiting: Waiting<Item, Answer>[] = [];
  let isAtWork = false;

  async function workAll(): Promise<void> {
    isAtWork = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, most);
      const isDone = await workOn(batch);
      if (!isDone) for (const one of batch) await workOn([one]);
    }
    isAtWork = false;
  }

  /** The failure of a single item is passed to the caller that waits for it. */
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
