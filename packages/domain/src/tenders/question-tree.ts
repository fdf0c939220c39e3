/** A question of the text search as its server writes it (`'reinig' & !'glas':*A | 'offent' <-> 'gebaud'`), taken apart. */
export type QuestionTree =
  | { kind: 'word'; word: string; isBeginning: boolean; isWeighted: boolean }
  | { kind: 'not'; of: QuestionTree }
  /** `phrase`: of one behind the other, which takes all of them. */
  | { kind: 'and' | 'or' | 'phrase'; of: QuestionTree[] };

const token = /\s*(?:('(?:[^'\\]|''|\\.)*')(?::([*A-D]+))?|(<(?:-|\d+)>)|([&|!()]))/suy;

/** Throws for what no server writes. */
export function readQuestion(text: string): QuestionTree {
  let at = 0;
  let next: RegExpExecArray | null = null;
  const advance = () => {
    token.lastIndex = at;
    next = token.exec(text);
    if (next === null && text.slice(at).trim() !== '') throw new Error('this is no question of the text search');
    at = token.lastIndex || text.length;
  };
  const isAt = (sign: string): boolean =>
    next !== null && (next[4] === sign || (sign === '<>' && next[3] !== undefined));
  const chain = (kind: 'and' | 'or' | 'phrase', sign: string, part: () => QuestionTree): QuestionTree => {
    const of = [part()];
    while (isAt(sign)) {
      advance();
      of.push(part());
    }
    const [only] = of;
    return of.length === 1 && only ? only : { kind, of };
  };
  const either = (): QuestionTree => chain('or', '|', () => chain('and', '&', () => chain('phrase', '<>', single)));
  const single = (): QuestionTree => {
    if (isAt('!')) {
      advance();
      return { kind: 'not', of: single() };
    }
    if (isAt('(')) {
      advance();
      const inner = either();
      if (!isAt(')')) throw new Error('a question of the text search ends too early');
      advance();
      return inner;
    }
    const [, quoted, flags = ''] = next ?? [];
    if (quoted === undefined) throw new Error('a question of the text search ends too early');
    advance();
    const word = quoted.slice(1, -1).replaceAll(/''|\\(.)/gsu, (sign, escaped?: string) => escaped ?? sign.slice(1));
    return { kind: 'word', word, isBeginning: flags.includes('*'), isWeighted: /[A-D]/.test(flags) };
  };
  advance();
  const tree = either();
  if (next !== null) throw new Error('a question of the text search does not end');
  return tree;
}

/** Whether it asks for words alone, and not for where they stand. */
export const asksForPlace = (tree: QuestionTree): boolean =>
  tree.kind === 'word'
    ? tree.isWeighted
    : tree.kind === 'phrase' || (tree.kind === 'not' ? asksForPlace(tree.of) : tree.of.some(asksForPlace));
