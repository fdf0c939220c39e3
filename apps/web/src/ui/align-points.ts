export interface AlignedPoints {
  /** All instants of all series, ascending, in milliseconds since 1970. */
  times: number[];
  /** The values of each series at these instants; `undefined` where it has no point, `null` where its line is broken. */
  values: (number | null | undefined)[][];
}

/** Puts the points of several series on one axis of time. */
export function alignPoints(
  series: readonly (readonly (readonly [atMs: number, value: number | null])[])[],
): AlignedPoints {
  const times = [...new Set(series.flatMap((points) => points.map(([at]) => at)))].toSorted((a, b) => a - b);
  const values = series.map((points) => {
    const known = new Map(points);
    return times.map((at) => known.get(at));
  });
  return { times, values };
}
