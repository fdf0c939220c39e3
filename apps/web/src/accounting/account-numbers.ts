export interface Known {
  number: string;
  name: string;
}

/** The service takes names that differ only in case or spacing as the same. */
export const nameKey = (name: string): string =>
  name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toUpperCase().toLowerCase();

export const isAccountNumber = (text: string): boolean => /^(?=.*[1-9])\d{1,9}$/.test(text);

/** The first number from `from` on that nobody has. */
export function freeNumber(from: number, taken: ReadonlySet<string>): string {
  let number = Math.max(from, 1);
  while (taken.has(String(number))) number += 1;
  return String(number);
}

const firstNumber = 8400;

/** What is known about accounts, for suggestions. */
export function accountIndex(accounts: readonly Known[]) {
  const byNumber = new Map(accounts.map((account) => [account.number, account]));
  const byStart = new Map<string, Known[]>();
  for (const account of accounts) {
    for (const start of startsOf(account.name)) {
      const list = byStart.get(start);
      if (list) list.push(account);
      else byStart.set(start, [account]);
    }
  }
  const highest = accounts.reduce((max, { number }) => Math.max(max, Number(number)), 0);
  const found = new Map<string, Known | null>();

  /** The account whose name is most like this one; null if none is. */
  function similarTo(name: string): Known | null {
    const known = found.get(name);
    if (known !== undefined) return known;
    let best: Known | null = null;
    let bestLikeness = minLikeness;
    for (const candidate of new Set(startsOf(name).flatMap((start) => byStart.get(start) ?? []))) {
      const likeness = likenessOf(name, candidate.name);
      if (likeness < bestLikeness) continue;
      best = candidate;
      bestLikeness = likeness;
    }
    found.set(name, best);
    return best;
  }

  return {
    byNumber,
    similarTo,
    /** A free number beside the similar account, or after all others. */
    suggestionFor(name: string, taken: ReadonlySet<string>): string {
      const similar = similarTo(name);
      return freeNumber(similar ? Number(similar.number) + 1 : (highest || firstNumber - 1) + 1, taken);
    },
  };
}

export type AccountIndex = ReturnType<typeof accountIndex>;

const minLikeness = 0.5;

/** The beginnings of its words. Only names that share one are compared, because a list can have 20,000. */
const startsOf = (name: string): string[] =>
  nameKey(name)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, 3));

/** Twice the pairs of letters that both names have, of all their pairs: 1 for equal names. */
export function likenessOf(a: string, b: string): number {
  const [pairsOfA, pairsOfB] = [pairsOf(a), pairsOf(b)];
  const all = pairsOfA.length + pairsOfB.length;
  if (all === 0) return nameKey(a) === nameKey(b) ? 1 : 0;
  const left = [...pairsOfB];
  let both = 0;
  for (const pair of pairsOfA) {
    const at = left.indexOf(pair);
    if (at === -1) continue;
    left.splice(at, 1);
    both += 1;
  }
  return (2 * both) / all;
}

function pairsOf(name: string): string[] {
  const letters = nameKey(name).replaceAll(/[^\p{L}\p{N}]/gu, '');
  return Array.from({ length: Math.max(letters.length - 1, 0) }, (_, at) => letters.slice(at, at + 2));
}
