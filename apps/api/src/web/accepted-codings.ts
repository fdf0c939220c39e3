/**
 * The codings of an answer that the caller accepts, those it prefers first, each with its value in `offered`. Of equally preferred
 * ones the first offered comes first. `header` is `Accept-Encoding` (RFC 9110, 12.5.3); without it the caller gets the plain bytes.
 */
export function acceptedCodings<Coding extends string, Value>(
  header: string | undefined,
  offered: Record<Coding, Value>,
): [Coding, Value][] {
  const qualities = new Map((header ?? '').split(',').map(qualityOf));
  const qualityFor = (coding: string): number => qualities.get(coding) ?? qualities.get('*') ?? 0;
  return (Object.entries(offered) as [Coding, Value][])
    .filter(([coding]) => qualityFor(coding) > 0)
    .toSorted(([a], [b]) => qualityFor(b) - qualityFor(a));
}

/** An element of the header: `gzip;q=0.5`. A quality that is no number counts as 0. */
function qualityOf(element: string): [coding: string, quality: number] {
  const [coding = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
  return [coding, quality === undefined ? 1 : Number(quality) || 0];
}
