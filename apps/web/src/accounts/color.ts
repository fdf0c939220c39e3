/** What a person typed as a colour, as `#rrggbb`; null if it is none. */
export function colorOf(typed: string): string | null {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(typed.trim()) ?? [];
  if (digits === undefined) return null;
  const long = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits;
  return `#${long.toLowerCase()}`;
}
