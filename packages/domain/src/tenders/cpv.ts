/** The divisions of the Common Procurement Vocabulary (CPV 2008). */
const divisions: ReadonlySet<string> = new Set(
  '03 09 14 15 16 18 19 22 24 30 31 32 33 34 35 37 38 39 41 42 43 44 45 48 50 51 55 60 63 64 65 66 70 71 72 73 75 76 77 79 80 85 90 92 98'.split(
    ' ',
  ),
);

/**
 * Normalizes a code to eight digits: removes the check digit after the hyphen, and fills a shortened code with zeros. Null for other text
 * and for unknown divisions.
 */
export function cpvCode(text: string): string | null {
  const [, digits] = /^\s*(\d{2,8})(?:-\d)?\s*$/.exec(text) ?? [];
  return digits !== undefined && divisions.has(digits.slice(0, 2)) ? digits.padEnd(8, '0') : null;
}

/** The distinct valid codes, at most `max`. */
export function cpvCodes(texts: Iterable<string>, max: number): string[] {
  const codes = new Set<string>();
  for (const text of texts) {
    if (codes.size === max) break;
    const code = cpvCode(text);
    if (code !== null) codes.add(code);
  }
  return [...codes];
}

export const cpvDivisions = (codes: readonly string[]): string[] => [...new Set(codes.map((code) => code.slice(0, 2)))];
