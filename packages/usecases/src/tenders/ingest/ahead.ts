/** The same values, each asked for while its predecessor is still being worked on. */
export async function* oneAhead<Value>(source: AsyncGenerator<Value, void>): AsyncGenerator<Value, void> {
  let next = source.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = source.next();
      // Whoever stops early does not hear of it.
      next.catch(() => undefined);
      yield value;
    }
  } finally {
    await next.catch(() => undefined);
    await source.return();
  }
}
