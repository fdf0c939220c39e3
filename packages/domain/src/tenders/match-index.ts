import type { QuestionTree } from './question-tree.ts';

/** Places of documents, one bit each. */
type Places = Int32Array;

/** Which documents surely answer a question, and which may: they differ where it matters where words stand. */
interface Answer {
  sure: Places;
  maybe: Places;
}

export interface MatchIndex {
  /** Places of the documents that may answer the question; all of them do where it does not ask for the place of a word. */
  candidates(question: QuestionTree): number[];
  /** The same for many a question that was asked before. */
  holds(question: QuestionTree, document: number): boolean;
}

/** An index over the words of a few documents, for questions by the thousand: it knows where a word is, and nothing of order or weight. */
export function indexDocuments(documents: readonly (readonly string[])[]): MatchIndex {
  const size = (documents.length + 31) >> 5;
  const none: Places = new Int32Array(size);
  const all: Places = new Int32Array(size).fill(-1);
  if (documents.length % 32 !== 0) all[size - 1] = (1 << (documents.length % 32)) - 1;
  const places = new Map<string, Places>();
  for (const [document, words] of documents.entries()) {
    for (const word of words) {
      let found = places.get(word);
      if (!found) places.set(word, (found = new Int32Array(size)));
      found[document >> 5] = (found[document >> 5] ?? 0) | (1 << (document & 31));
    }
  }
  let ordered: string[] | undefined;
  const remembered = new WeakMap<QuestionTree, Answer>();

  function beginningWith(start: string): Places {
    ordered ??= [...places.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    let [from, to] = [0, ordered.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((ordered[middle] ?? '') < start) from = middle + 1;
      else to = middle;
    }
    const result = new Int32Array(size);
    for (let word = ordered[from]; word?.startsWith(start); word = ordered[(from += 1)])
      for (const [n, bits] of (places.get(word) ?? none).entries()) result[n] = (result[n] ?? 0) | bits;
    return result;
  }

  const joined = (parts: readonly Places[], kind: 'and' | 'or'): Places => {
    const result = Int32Array.from(parts[0] ?? none);
    for (const part of parts.slice(1))
      for (let n = 0; n < size; n += 1) {
        const [a, b] = [result[n] ?? 0, part[n] ?? 0];
        result[n] = kind === 'and' ? a & b : a | b;
      }
    return result;
  };
  const without = (part: Places): Places => all.map((bits, n) => bits & ~(part[n] ?? 0));

  function answer(tree: QuestionTree): Answer {
    switch (tree.kind) {
      case 'word': {
        const found = tree.isBeginning ? beginningWith(tree.word) : (places.get(tree.word) ?? none);
        return { sure: tree.isWeighted ? none : found, maybe: found };
      }
      case 'not': {
        const { sure, maybe } = answer(tree.of);
        return { sure: without(maybe), maybe: without(sure) };
      }
      case 'phrase':
        return {
          sure: none,
          maybe: joined(
            tree.of.map((part) => answer(part).maybe),
            'and',
          ),
        };
      default: {
        const { kind } = tree;
        const answers = tree.of.map(answer);
        return {
          sure: joined(
            answers.map(({ sure }) => sure),
            kind,
          ),
          maybe: joined(
            answers.map(({ maybe }) => maybe),
            kind,
          ),
        };
      }
    }
  }

  const once = (tree: QuestionTree): Answer => {
    const known = remembered.get(tree) ?? answer(tree);
    remembered.set(tree, known);
    return known;
  };

  return {
    candidates(question) {
      const found: number[] = [];
      for (const [n, bits] of once(question).maybe.entries())
        for (let rest = bits; rest !== 0; rest &= rest - 1) found.push(n * 32 + (31 - Math.clz32(rest & -rest)));
      return found;
    },
    holds: (question, document) => (((once(question).sure[document >> 5] ?? 0) >> (document & 31)) & 1) === 1,
  };
}
