/** Works on the items in order, so many at a time. After a failure nothing more is begun; it is thrown when what was begun is over. */
export async function mapConcurrently<T>(
  items: Iterable<T>,
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); !next.done && !hasFailed; next = rest.next()) {
      await work(next.value).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, lane));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
