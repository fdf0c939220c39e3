/** An address of the portal: a path and its parameters, without those that are empty. */
export function addressOf(path: string, params: Readonly<Record<string, string | null | undefined>>): string {
  const filled = Object.entries(params).filter((param): param is [string, string] => Boolean(param[1]));
  const query = new URLSearchParams(filled).toString();
  return query === '' ? path : `${path}?${query}`;
}
