/** An XML element with its local name: namespace prefixes differ from sender to sender and have no meaning. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly XmlElement[];
  text: string;
}

/** All elements at the end of a path. */
export function all(from: XmlElement | null, ...path: string[]): XmlElement[] {
  let found: XmlElement[] = from === null ? [] : [from];
  for (const name of path) found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
  return found;
}

/** The first element at the end of a path. */
export const first = (from: XmlElement | null, ...path: string[]): XmlElement | null => all(from, ...path)[0] ?? null;

/** The first text at the end of a path that is not empty; null if there is none. */
export const textAt = (from: XmlElement | null, ...path: string[]): string | null => {
  for (const { text } of all(from, ...path)) if (text.trim() !== '') return text.trim();
  return null;
};

/** The text at the end of a path in German, else in the language of the notice, else the first. */
export function wordsAt(from: XmlElement | null, language: string | null, ...path: string[]): string | null {
  const texts = all(from, ...path).filter(({ text }) => text.trim() !== '');
  const inLanguage = (wanted: string | null) =>
    texts.find(({ attributes }) => wanted !== null && attributes['languageID']?.toUpperCase() === wanted.toUpperCase());
  return (inLanguage('DEU') ?? inLanguage(language) ?? texts[0])?.text.trim() ?? null;
}
