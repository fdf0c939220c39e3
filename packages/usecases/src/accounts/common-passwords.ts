import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

// The list of the 49,233 most used passwords that @zxcvbn-ts/language-common carries (MIT licence; drawn from leaked collections
// and ranked by frequency). It is read when somebody chooses a password for the first time.
const source = (): string => fileURLToPath(import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json'));

/**
 * Whether a password is a common one, without regard to case. Most listed ones are too short to be chosen here, so what people make
 * of them to get past a minimum length counts as listed too: up to four digits or signs behind one, and one written twice.
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

/** The words as one sorted text and where each begins: half a megabyte, where a set of strings takes three. */
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
