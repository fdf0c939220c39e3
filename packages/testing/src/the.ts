/** The value, which the test knows to exist. Throws if it does not. */
export function the<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('a value that the test needs is missing');
  return value;
}
