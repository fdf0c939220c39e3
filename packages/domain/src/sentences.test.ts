import { expect, it } from 'vitest';
import { asHeadline, sentences } from './sentences.ts';

it.each<[remarks: string[], most: number | undefined, text: string]>([
  [[], undefined, ''],
  [
    ['Root is 96 % full.', 'At this pace it is full in 3 days.'],
    undefined,
    'Root is 96 % full. At this pace it is full in 3 days.',
  ],
  [
    ['Replication 1 fails: no route to host', 'a.xml is no notice'],
    undefined,
    'Replication 1 fails: no route to host. a.xml is no notice.',
  ],
  [['', '  ', ' It is. '], undefined, 'It is.'],
  [['Is it?', 'It is!', 'It goes on…', '(It is.)'], undefined, 'Is it? It is! It goes on… (It is.)'],
  [['One.', 'Two.', 'Three.'], 3, 'One. Two. Three.'],
  [['One.', 'Two', 'Three.', 'Four.'], 2, 'One. Two. And 2 more.'],
])('joins %j, at most %s, to: %s', (remarks, most, text) => {
  expect(sentences(remarks, most)).toBe(text);
});

it('a headline has no full stop', () => {
  expect(['Root is full.', 'Switched off', 'Why?'].map(asHeadline)).toEqual(['Root is full', 'Switched off', 'Why?']);
});
