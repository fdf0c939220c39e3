import { describe, expect, it } from 'vitest';
import { fold, partsOfWords } from './words.ts';

describe('long words', () => {
  it.each([
    ['Gebäudereinigung', ['gebäude', 'reinigung']],
    ['Gebaeudereinigung', ['gebaeude', 'reinigung']],
    ['Gebäudereinigungsarbeiten', ['arbeiten', 'gebäudereinigung', 'gebäude', 'reinigung']],
    ['Unterhaltsreinigung', ['reinigung', 'unterhalt']],
    ['Schülerbeförderung', ['beförderung', 'schüler']],
    ['Tiefbauarbeiten', ['arbeiten', 'tiefbau']],
    ['Heizungswartung', ['heizung', 'wartung']],
    ['Mülltonnen', []],
    ['Haus', []],
  ])('%s has the parts %j', (word, parts) => {
    expect(partsOfWords(word)).toEqual(expect.arrayContaining(parts));
    if (parts.length === 0) expect(partsOfWords(word)).toEqual([]);
  });

  it('are split in linear time', () => {
    const before = process.cpuUsage();
    partsOfWords('reinigungs'.repeat(20_000));
    partsOfWords('Gebäudereinigungsdienstleistungsanlagen '.repeat(5_000));
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });
});

it.each([
  ['Gebäude', 'gebaeude'],
  ['GROSSE STRAßE', 'grosse strasse'],
  ['Ärzte-Öl', 'aerzte-oel'],
  ['A\u0308rzte', 'aerzte'],
])('%s is also spelled %s', (text, folded) => {
  expect(fold(text)).toBe(folded);
});
