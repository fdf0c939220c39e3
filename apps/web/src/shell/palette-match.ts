/** The entries that match what was typed, best first; all of them if nothing was typed. */
export function findEntries<Entry extends { label: string }>(entries: readonly Entry[], typed: string): Entry[] {
  const words = wordsOf(plain(typed));
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry.label, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
}

/** 0 if a word is not found. */
function scoreOf(label: string, typed: readonly string[]): number {
  if (typed.length === 0) return 1;
  // A keyboard without umlauts writes ä as a or as ae.
  return Math.max(...new Set([plain(label), plain(spellOut(label))].map((form) => scoreOfForm(form, typed))));
}

function scoreOfForm(label: string, typed: readonly string[]): number {
  const words = wordsOf(label);
  const initials = words.map(([first]) => first).join('');
  const scores = typed.map((word) => wordScore(word, words, initials));
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, label.startsWith(typed.join(' ')) ? 3 : 0);
}

function wordScore(typed: string, words: readonly string[], initials: string): number {
  if (words.includes(typed)) return 6;
  if (words.some((word) => word.startsWith(typed))) return 5;
  if (typed.length > 1 && initials.startsWith(typed)) return 4;
  if (words.some((word) => word.includes(typed))) return 3;
  return typed.length > 2 && words.some((word) => word[0] === typed[0] && hasInOrder(word, typed)) ? 1 : 0;
}

/** True if all letters occur in the word in this order. */
function hasInOrder(word: string, letters: string): boolean {
  let from = 0;
  return [...letters].every((letter) => {
    from = word.indexOf(letter, from) + 1;
    return from > 0;
  });
}

const wordsOf = (text: string): string[] => text.split(/[^\p{Letter}\p{Number}]+/u).filter((word) => word !== '');

/** Lower case, without diacritics. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');

const spellOut = (text: string): string => text.normalize('NFC').replaceAll(/[äöü]/gi, (letter) => `${letter}e`);
