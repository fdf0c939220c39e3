import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

// The 49,233 most used passwords from @zxcvbn-ts/language-common (MIT licence; drawn from leaked collections and ranked by
// frequency). The process loads the list when it first checks a new password.
const source = (): string => fileURLToPath(import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json'));

/**
 * Whether a password is common, regardless of case. Most listed passwords are shorter than the minimum length, so the usual ways to
 * lengthen them count as common, too: up to four digits or signs appended, or the password written twice.
 */
export type IsCommonPassword = (password: string) => boolean;

let list: Promise<IsCommonPassword> | undefined;

export function loadCommonPasswords(): Promise<IsCommonPassword> {
  list ??= readList().catch((error: unknown) => {
    list = undefined;
    throw error;
  });
  return list;
}

async function readList(): Promise<IsCommonPassword> {
  const text = await readFile(source(), 'utf8');
  const isListed = searchable((JSON.parse(text) as string[]).map((password) => password.toLowerCase()));
  return (password) => {
    const folded = password.toLowerCase();
    const [appended = ''] = /[^\p{L}]{0,4}$/u.exec(folded) ?? [];
    const stems = Array.from(appended, (_, n) => folded.slice(0, folded.length - n - 1));
    const half = folded.slice(0, folded.length / 2);
    return isListed(folded) || stems.some(isListed) || (half + half === folded && isListed(half));
  };
}

/** Stores the words as one sorted text with offsets, which takes half a megabyte; a set of strings takes three. */
function searchable(words: string[]): (word: string) => boolean {
  const sorted = words.toSorted();
  const starts = new Uint32Array(sorted.length + 1);
  for (const [n, word] of sorted.entries()) starts[n + 1] = (starts[n] ?? 0) + word.length;
  const text = sorted.join('');
  return (word) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = text.slice(starts[middle], starts[middle + 1]);
      if (found === word) return true;
      if (found < word) low = middle + 1;
      else high = middle;
    }
    return false;
  };
}
