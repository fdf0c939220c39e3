/** What a test knows to be there. */
export function the<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('what the test needs is not there');
  return value;
}
