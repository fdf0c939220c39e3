/** The entries whose text has every word that is searched for. */
export function filtered<Item extends { text: string }>(items: readonly Item[], search: string): readonly Item[] {
  const words = search.toLocaleLowerCase('de').split(/\s+/).filter(Boolean);
  if (words.length === 0) return items;
  return items.filter(({ text }) => {
    const lower = text.toLocaleLowerCase('de');
    return words.every((word) => lower.includes(word));
  });
}
