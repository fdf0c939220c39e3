export const isArchive = ({ name, type }: Pick<File, 'name' | 'type'>): boolean =>
  /\.zip$/i.test(name) || /zip/.test(type);

/** A name that no other file has: `server (2).pem`. The service tells files apart by their names. */
export function distinctName(name: string, others: readonly Pick<File, 'name'>[]): string {
  const taken = new Set(others.map((other) => other.name));
  const [, base = name, ending = ''] = /^(.+?)(\.[^.]*)?$/.exec(name) ?? [];
  let distinct = name;
  for (let n = 2; taken.has(distinct); n += 1) distinct = `${base} (${n})${ending}`;
  return distinct;
}

/** The files to send: in place of a locked one what a password opened in it, and beside an archive what was opened in that. */
export function withOpened(files: readonly File[], opened: ReadonlyMap<string, string>): File[] {
  const names = new Set(files.map(({ name }) => name));
  const sent = files.map((file) => asText(file.name, opened.get(file.name)) ?? file);
  for (const [name, pem] of opened) if (!names.has(name)) sent.push(new File([pem], name));
  return sent;
}

const asText = (name: string, pem: string | undefined): File | null =>
  pem === undefined ? null : new File([pem], name);
