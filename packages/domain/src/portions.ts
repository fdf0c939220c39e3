/** Rows per bulk statement: PostgreSQL accepts at most 65,535 values in a statement. */
export const rowsAtOnce = 5_000;

/** The items in order, in batches of `size`. */
export function* portions<T>(items: readonly T[], size = rowsAtOnce): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
