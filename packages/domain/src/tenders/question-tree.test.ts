import { describe, expect, it } from 'vitest';
import { indexDocuments } from './match-index.ts';
import { asksForPlace, readQuestion } from './question-tree.ts';

const word = (text: string, { isBeginning = false, isWeighted = false } = {}) => ({
  kind: 'word',
  word: text,
  isBeginning,
  isWeighted,
});

describe('a question of the text search', () => {
  it.each([
    [`'reinig'`, word('reinig')],
    [`'c++'`, word('c++')],
    [`'it''s' `, word(`it's`)],
    [String.raw`'a\\b'`, word(String.raw`a\b`)],
    [`'reinig':*AB`, word('reinig', { isBeginning: true, isWeighted: true })],
    [`!'a' & 'b'`, { kind: 'and', of: [{ kind: 'not', of: word('a') }, word('b')] }],
    [`'a' & 'b' | 'c'`, { kind: 'or', of: [{ kind: 'and', of: [word('a'), word('b')] }, word('c')] }],
    [
      `'a' & ( 'b' | !( 'c' | 'd' ) )`,
      {
        kind: 'and',
        of: [
          word('a'),
          { kind: 'or', of: [word('b'), { kind: 'not', of: { kind: 'or', of: [word('c'), word('d')] } }] },
        ],
      },
    ],
    [`'a' <-> 'b' <2> 'c'`, { kind: 'phrase', of: [word('a'), word('b'), word('c')] }],
    [`'cpv/90' & 'land/all'`, { kind: 'and', of: [word('cpv/90'), word('land/all')] }],
  ])('%s is taken apart', (text, tree) => {
    expect(readQuestion(text)).toEqual(tree);
  });

  it.each(['', `'a`, `'a' &`, `( 'a'`, `'a' )`, `a`, `'a' 'b'`])('%j is none', (text) => {
    expect(() => readQuestion(text)).toThrow();
  });

  it('asks for places with fields and phrases alone', () => {
    expect([`'a' & 'b':*`, `!'a'`].map(readQuestion).map(asksForPlace)).toEqual([false, false]);
    expect([`'a':B`, `'x' & !( 'a' <-> 'b' )`].map(readQuestion).map(asksForPlace)).toEqual([true, true]);
  });
});

describe('an index of words', () => {
  const documents = Array.from({ length: 70 }, (_, n) => [
    ...(n % 2 === 0 ? ['even'] : []),
    ...(n % 3 === 0 ? ['third', 'thirst'] : []),
    `n${n}`,
  ]);
  const index = indexDocuments(documents);
  const found = (text: string) => index.candidates(readQuestion(text));

  it.each([
    [`'even' & 'third'`, (n: number) => n % 6 === 0],
    [`'even' | 'third'`, (n: number) => n % 2 === 0 || n % 3 === 0],
    [`!'even'`, (n: number) => n % 2 === 1],
    [`'thir':*`, (n: number) => n % 3 === 0],
    [`'n6':* & !'n6'`, (n: number) => n >= 60],
    [`'nowhere'`, () => false],
    [`'even' <-> 'third'`, (n: number) => n % 6 === 0],
    [`!( 'even' <-> 'third' )`, () => true],
    [`!'even':A`, () => true],
  ])('%s', (text, isFound) => {
    expect(found(text)).toEqual([...documents.keys()].filter(isFound));
  });

  it('is not sure where places matter', () => {
    expect(index.holds(readQuestion(`'even'`), 64)).toBe(true);
    expect(index.holds(readQuestion(`'even'`), 65)).toBe(false);
    expect(index.holds(readQuestion(`'even':A`), 64)).toBe(false);
    expect(index.holds(readQuestion(`'even' <-> 'third'`), 66)).toBe(false);
  });
});
