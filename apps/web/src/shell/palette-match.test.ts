import { describe, expect, it } from 'vitest';
import { findEntries } from './palette-match.ts';

const labels = [
  'Dashboard',
  'Erinnerungen',
  'Neue Erinnerung',
  'Mein Konto',
  'Meine Bilder',
  'Sicherheit',
  'Übersicht Straße',
  'Dunkles Design',
  'Wiki',
];
const find = (typed: string) =>
  findEntries(
    labels.map((label) => ({ label })),
    typed,
  ).map(({ label }) => label);

describe('the palette', () => {
  it('shows everything in its order until something is typed', () => {
    expect(find('')).toEqual(labels);
    expect(find('  ')).toEqual(labels);
  });

  it.each([
    ['the start of a word', 'bild', ['Meine Bilder']],
    ['the start of the label before that of another word', 'erinn', ['Erinnerungen', 'Neue Erinnerung']],
    ['words in any order', 'erinnerung neu', ['Neue Erinnerung']],
    ['initials', 'mk', ['Mein Konto']],
    ['the inside of a word', 'board', ['Dashboard']],
    ['letters in their order', 'dshbrd', ['Dashboard']],
    ['capital letters', 'WIKI', ['Wiki']],
    ['diacritics left out', 'ubersicht strasse', ['Übersicht Straße']],
    ['umlauts spelled out', 'uebersicht', ['Übersicht Straße']],
    ['diacritics that the label lacks', 'wíki', ['Wiki']],
    ['a word that is not there', 'wiki xyz', []],
    ['signs of regular expressions', '.*', labels],
  ])('finds %s', (_, typed, expected) => {
    expect(find(typed)).toEqual(expected);
  });
});
