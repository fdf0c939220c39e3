/** The list with one entry moved to another place. */
export function moved<Row>(rows: readonly Row[], from: number, to: number): Row[] {
  const rest = rows.toSpliced(from, 1);
  const row = rows[from];
  return row === undefined ? [...rows] : rest.toSpliced(Math.max(0, Math.min(to, rest.length)), 0, row);
}

/** The place of an entry that is held at this height: it passes another one at that one's middle. */
export const placeAt = (y: number, middles: readonly number[], from: number): number =>
  middles.filter((middle, place) => place !== from && middle < y).length;

/** An address as typed, with the scheme that people leave out. */
export const withScheme = (address: string): string => {
  const typed = address.trim();
  return typed === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
};
