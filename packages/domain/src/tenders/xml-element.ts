/** An element of an XML document by its local name: prefixes differ from one sender to the next and mean nothing. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: readonly XmlElement[];
  text: string;
}

/** Every element that a path leads to. */
export function all(from: XmlElement | null, ...path: string[]): XmlElement[] {
  let found: XmlElement[] = from === null ? [] : [from];
  for (const name of path) found = found.flatMap(({ children }) => children.filter((child) => child.name === name));
  return found;
}

/** The first element that a path leads to. */
export const first = (from: XmlElement | null, ...path: string[]): XmlElement | null => all(from, ...path)[0] ?? null;

/** The text of the first element at the end of a path; null where there is none or it is empty. */
export const textAt = (from: XmlElement | null, ...path: string[]): string | null => {
  for (const { text } of all(from, ...path)) if (text.trim() !== '') return text.trim();
  return null;
};

/** Of texts in several languages the German one, then that of the notice, then the first. */
export function wordsAt(from: XmlElement | null, language: string | null, ...path: string[]): string | null {
  const texts = all(from, ...path).filter(({ text }) => text.trim() !== '');
  const inLanguage = (wanted: string | null) =>
    texts.find(({ attributes }) => wanted !== null && attributes['languageID']?.toUpperCase() === wanted.toUpperCase());
  return (inLanguage('DEU') ?? inLanguage(language) ?? texts[0])?.text.trim() ?? null;
}
