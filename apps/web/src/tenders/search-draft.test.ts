import { expect, it } from 'vitest';
import { areEmpty, draftOf, type Filters, filtersOfDraft } from './search-draft.ts';

const none: Filters = { version: 1, combine: 'all', includeRss: true };
const full: Filters = {
  version: 1,
  text: { all: ['a b', 'c'], any: ['d'], phrases: ['e f'], none: ['g'], contains: ['hijk'], fields: ['title'] },
  cpv: { prefixes: ['9091'], exclude: ['9061'], includeMissing: true },
  combine: 'any',
  region: { laender: ['NW'], nuts: ['DEA2'], includeNationwide: false, includeUnknown: true },
  deadline: { minDays: 3, maxDays: null, includeUnknown: false },
  published: { sinceDays: 30 },
  buyer: { any: ['Stadt Köln, Amt 7', 'Bund'], none: ['Kreis'] },
  kinds: ['competition'],
  procedureTypes: ['open'],
  natures: ['works'],
  value: { min: 0, max: 5_000, currency: 'CHF', includeUnknown: false },
  sources: ['ted'],
  includeRss: false,
};

it.each([
  ['all filters', full],
  ['no filters', none],
])('a draft keeps %s', (_, filters) => {
  expect(filtersOfDraft(draftOf(filters), filters)).toEqual(filters);
});

it('a draft takes words as people separate them', () => {
  const draft = { ...draftOf(none), all: ' Glas ,, Dach, Glas', buyer: 'Stadt Köln, Amt 7;' };
  expect(filtersOfDraft(draft, none)).toMatchObject({
    text: { all: ['Glas', 'Dach'] },
    buyer: { any: ['Stadt Köln, Amt 7'] },
  });
});

it('filters without a condition are empty', () => {
  expect(areEmpty(none)).toBe(true);
  expect(areEmpty({ ...none, deadline: { minDays: null, maxDays: null, includeUnknown: true } })).toBe(true);
  expect(areEmpty({ ...none, includeRss: false })).toBe(false);
  expect(areEmpty(full)).toBe(false);
});
