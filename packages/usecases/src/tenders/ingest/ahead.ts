/** Yields the same values, but requests each one while the consumer works on the one before. */
export async function* oneAhead<Value>(source: AsyncGenerator<Value, void>): AsyncGenerator<Value, void> {
  let next = source.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = source.next();
      // If the consumer stops early, a rejection must not be unhandled.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await next.catch(() => undefined);
    await source.return();
  }
}
