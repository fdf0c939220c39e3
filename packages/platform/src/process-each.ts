/**
 * Processes one item after the other. After a failure it calls `onFailure` and continues; it throws the first failure at the end. Throws
 * the signal's reason as soon as it is aborted.
 */
export async function processEach<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
  { signal, onFailure }: { signal: AbortSignal; onFailure: (item: Item, error: unknown) => void },
): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    signal.throwIfAborted();
    try {
      await work(item);
    } catch (error) {
      signal.throwIfAborted();
      onFailure(item, error);
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
