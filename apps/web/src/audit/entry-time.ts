/** When an entry was made, in milliseconds since 1970, which its id (UUIDv7) begins with; null if the id has no time. */
export function entryTimeMs(id: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : null;
}
