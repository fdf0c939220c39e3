/** Rows of one statement that writes many: it takes 65,535 values and no more. */
export const rowsAtOnce = 5_000;

/** The items in order, so many at a time. */
export function* portions<T>(items: readonly T[], size = rowsAtOnce): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
