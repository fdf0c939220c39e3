import { describe, expect, it } from 'vitest';
import { TenderFilters } from './filters.ts';
import { compileFilters, readSearchText } from './search-query.ts';

const compiled = (filters: object) => compileFilters(TenderFilters.parse(filters));

describe('typed text', () => {
  it.each([
    ['reinigung glas', { all: ['reinigung', 'glas'] }],
    ['"öffentliche Gebäude" -winterdienst', { phrases: ['öffentliche Gebäude'], none: ['winterdienst'] }],
    ['-"nur Lieferung" bau', { all: ['bau'], none: ['nur Lieferung'] }],
    ['reinig*', { all: ['reinig*'] }],
    ['"offen gelassen', { all: ['offen', 'gelassen'] }],
    ['C++ & | ! ( ) :* <->', { all: ['C++'] }],
    ["' \\ \0 ''", {}],
    ['__proto__ constructor', { all: ['__proto__', 'constructor'] }],
    ['', {}],
  ])('%j is %j', (typed, text) => {
    expect(readSearchText(typed)).toEqual({ all: [], any: [], phrases: [], none: [], contains: [], ...text });
  });
});

describe('filters', () => {
  it.each([
    [{ text: { all: ['Reinigung'] } }, `'reinigung'`, null],
    [{ text: { all: ['Gebäude', 'glas'] } }, `(('gebäude' | 'gebaeude') & 'glas')`, null],
    [{ text: { any: ['glas', 'bau'] } }, `('glas' | 'bau')`, null],
    [{ text: { all: ['glas'], none: ['bau', 'tief'] } }, `('glas' & !('bau' | 'tief'))`, null],
    [{ text: { all: ['reinig*', 'it*'] } }, `('reinig':* & 'it')`, null],
    [{ text: { all: ['glas'], fields: ['title', 'lots'] } }, `'glas':AB`, null],
    [{ text: { all: [`x'); drop table tenders; --`] } }, `'x drop table tenders --'`, null],
    [{ text: { all: [`a\\'b`, '&|!'] } }, `'a b'`, null],
    [{ buyer: { any: ['Stadt Köln'] } }, `('stadt':C & ('köln':C | 'koeln':C))`, null],
    [{ cpv: { prefixes: ['9091', '45000000'] } }, null, `('cpv/9091' | 'cpv/45')`],
    [
      { cpv: { prefixes: ['30'], exclude: ['301'], includeMissing: true } },
      null,
      `(('cpv/30' | 'cpv/none') & !'cpv/301')`,
    ],
    [{ region: { laender: ['NW'] } }, null, `('land/NW' | 'land/all')`],
    [
      { region: { laender: ['NW'], nuts: ['DEB'], includeNationwide: false, includeUnknown: true } },
      null,
      `('land/NW' | 'nuts/DEB' | 'land/none')`,
    ],
    [{ kinds: ['result', 'planning'] }, null, `('form/result' | 'form/planning')`],
    [{ includeRss: false }, null, `!'origin/feed'`],
    [{}, null, null],
    [{ text: { all: [] }, cpv: {}, region: {}, buyer: {} }, null, null],
  ])('%j give the words %s and the markers %s', (filters, words, markers) => {
    expect(compiled(filters)).toMatchObject({ all: { words, markers }, either: null });
  });

  it('combine only words and codes with "or" if requested', () => {
    const filters = {
      combine: 'any',
      text: { all: ['glas'], none: ['bau'] },
      cpv: { prefixes: ['90'] },
      region: { laender: ['BY'] },
    };
    expect(compiled(filters)).toMatchObject({
      either: { words: `'glas'`, markers: `'cpv/90'` },
      all: { words: `!'bau'`, markers: `('land/BY' | 'land/all')` },
    });
    expect(compiled({ combine: 'any', text: { all: ['glas'] } })).toMatchObject({
      all: { words: `'glas'` },
      either: null,
    });
  });

  it('match open calls unless kinds are given', () => {
    expect(compiled({}).isOpenOnly).toBe(true);
    expect(compiled({ kinds: [] }).isOpenOnly).toBe(true);
    expect(compiled({ kinds: ['competition'] }).isOpenOnly).toBe(false);
  });

  it.each([
    { unknown: 1 },
    { text: { every: [] } },
    { version: 2 },
    { text: { all: Array.from({ length: 21 }, () => 'wort') } },
    { text: { all: ['x'] } },
    { text: { all: ['x'.repeat(61)] } },
    { text: { phrases: ['eins zwei drei vier fünf sechs sieben acht neun'] } },
    { cpv: { prefixes: ['9'] } },
    { cpv: { prefixes: ['909110001'] } },
    { cpv: { prefixes: Array.from({ length: 51 }, () => '90') } },
    { region: { laender: ['XX'] } },
    { kinds: ['auction'] },
    { sources: ['ebay'] },
    { sources: ['__proto__'] },
    { value: { min: -1 } },
    { deadline: { minDays: 1.5 } },
  ])('%j are refused', (filters) => {
    expect(TenderFilters.safeParse(filters).success).toBe(false);
  });
});
