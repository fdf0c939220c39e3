import { describe, expect, it } from 'vitest';
import { filterOf, noFilter, queryOf, savedFiltersOf, shownOf, tendersAddress, wordsOf } from './tender-filter.ts';

const paramsOf = (address: string) => Object.fromEntries(new URL(address, 'https://portal.example.org').searchParams);

describe('a filter', () => {
  it('comes back from its address', () => {
    const filter = {
      ...noFilter,
      q: 'glas "öffentliche Gebäude" -winter',
      laender: ['NW' as const, 'BY' as const],
      cpv: ['90', '4521'],
      sources: ['ted'],
      noticeTypes: ['result' as const],
      due: 'w7' as const,
      publishedFrom: '2026-11-01',
      favorite: true,
    };
    const address = tendersAddress(filter, { sort: 'deadline', view: 'calendar', month: '2026-12' });
    expect(filterOf(paramsOf(address))).toEqual(filter);
    expect(shownOf(paramsOf(address))).toEqual({ sort: 'deadline', view: 'calendar', month: '2026-12' });
    expect(tendersAddress(noFilter)).toBe('/app/tenders');
  });

  it.each([
    '?bundesland=XX,__proto__,toString&source=evil&cpv=9,90911000-2,x&noticeType=auction',
    '?published=2&due=w999&deadlineFrom=2026-02-31&publishedTo=tomorrow&favorite=yes&search=1&sort=evil&month=2026-13',
  ])('leaves out what no filter can be: %s', (query) => {
    expect(filterOf(paramsOf(`/${query}`))).toEqual(noFilter);
    expect(shownOf(paramsOf(`/${query}`))).toEqual({ sort: 'published', view: 'list', month: '' });
  });

  it('asks for whole days of Berlin', () => {
    expect(queryOf({ ...noFilter, due: 'w3', publishedFrom: '2026-07-01' }, '2026-11-26')).toEqual({
      publishedFrom: '2026-06-30T22:00:00.000Z',
      deadlineTo: '2026-11-29T22:59:59.999Z',
    });
  });
});

describe('a search to save', () => {
  it('counts days from today and names what it cannot keep', () => {
    const filter = {
      ...noFilter,
      q: 'reinigung -"am Wochenende"',
      buyer: 'Stadt Köln',
      unread: true,
      deadlineFrom: '2026-12-03',
      publishedFrom: '2026-11-16',
      publishedTo: '2026-11-20',
    };
    expect(savedFiltersOf(filter, '2026-11-26')).toEqual({
      filters: {
        version: 1,
        combine: 'all',
        includeRss: true,
        text: { all: ['reinigung'], phrases: [], none: ['am Wochenende'], any: [], contains: [] },
        buyer: { any: ['Stadt Köln'], none: [] },
        published: { sinceDays: 10 },
        deadline: { minDays: 7, maxDays: null, includeUnknown: true },
      },
      unsaved: ['unread', 'publishedTo'],
    });
  });

  it.each([
    ['a "b c" -d', { all: ['a'], phrases: ['b c'], none: ['d'] }],
    ['-"x y" "', { all: [], phrases: [], none: ['x y'] }],
    ['((&|!:*<->', { all: [], phrases: [], none: [] }],
  ])('reads %s', (typed, words) => {
    expect(wordsOf(typed)).toEqual(words);
  });
});
