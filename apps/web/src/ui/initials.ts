const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const isShown = (character: string): boolean => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(character);

/** Up to two characters that stand for a name: the first ones of its first and last word. */
export function initialsOf(name: string): string {
  const firsts = name
    .split(/[\s._@-]+/u)
    .map((word) => Array.from(segmenter.segment(word), ({ segment }) => segment).find(isShown))
    .filter((first) => first !== undefined);
  const [first] = firsts;
  // An emoji is as wide as two letters.
  if (first !== undefined && /\p{Extended_Pictographic}/u.test(first)) return first;
  return [first, firsts.length > 1 ? firsts.at(-1) : ''].join('').toLocaleUpperCase();
}
