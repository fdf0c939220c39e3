import type { SavedSearch } from '@portal/client/interface';
import { addDays, daysBetween, startOf } from '../berlin-time.ts';
import { addressOf } from '../shell/address.ts';
import { isLand, isNoticeType, type Land, type NoticeType } from './names.ts';

/** What narrows the list of tenders, as the address has it. Days are like `2026-11-20`; empty means no condition. */
export interface TenderFilter {
  q: string;
  sources: readonly string[];
  laender: readonly Land[];
  cpv: readonly string[];
  noticeTypes: readonly NoticeType[];
  buyer: string;
  /** The last so many days; empty if the days below count. */
  published: Published;
  publishedFrom: string;
  publishedTo: string;
  /** Relative to today; empty if the days below count. */
  due: Due;
  deadlineFrom: string;
  deadlineTo: string;
  favorite: boolean;
  unread: boolean;
  /** The id of a saved search whose tenders are narrowed. */
  search: string;
}

export const publishedChoices = ['1', '7', '30'] as const;
type Published = (typeof publishedChoices)[number] | '';
/** `w7` is within seven days, `m7` leaves at least seven days. */
export const dueChoices = ['w3', 'w7', 'w30', 'm7', 'm14', 'm30'] as const;
type Due = (typeof dueChoices)[number] | '';

export const sorts = ['published', 'deadline', 'relevance'] as const;
export type Sort = (typeof sorts)[number];

export const noFilter: TenderFilter = {
  q: '',
  sources: [],
  laender: [],
  cpv: [],
  noticeTypes: [],
  buyer: '',
  published: '',
  publishedFrom: '',
  publishedTo: '',
  due: '',
  deadlineFrom: '',
  deadlineTo: '',
  favorite: false,
  unread: false,
  search: '',
};

const path = '/app/tenders';
const maxLine = 200;

/** The filter that the parameters of an address describe. What no filter can be is left out. */
export function filterOf(params: Readonly<Record<string, string>>): TenderFilter {
  const text = (name: string) => (params[name] ?? '').replaceAll(/\p{Cc}/gu, ' ').slice(0, maxLine);
  const list = (name: string) => [...new Set((params[name] ?? '').split(',').filter(Boolean))].slice(0, 50);
  const day = (name: string) => dayIn(params[name] ?? '');
  return {
    q: text('q'),
    sources: list('source').filter((key) => sourceKey.test(key)),
    laender: list('bundesland').filter(isLand),
    cpv: list('cpv').filter((code) => /^\d{2,8}$/.test(code)),
    noticeTypes: list('noticeType').filter(isNoticeType),
    buyer: text('buyer'),
    published: publishedChoices.find((choice) => choice === params['published']) ?? '',
    publishedFrom: day('publishedFrom'),
    publishedTo: day('publishedTo'),
    due: dueChoices.find((choice) => choice === params['due']) ?? '',
    deadlineFrom: day('deadlineFrom'),
    deadlineTo: day('deadlineTo'),
    favorite: params['favorite'] === 'true',
    unread: params['unread'] === 'true',
    search: uuid.test(params['search'] ?? '') ? (params['search'] ?? '') : '',
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const sourceKey = /^(ted|oeffentlichevergabe|bund|mailbox|rss:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

function dayIn(text: string): string {
  const isDay = /^[12]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay && new Date(text).toISOString().startsWith(text) ? text : '';
}

/** What an address says besides the filter. */
export interface Shown {
  sort: Sort;
  view: 'list' | 'calendar';
  /** `2026-12`; empty for the month of today. */
  month: string;
}

export const shownOf = (params: Readonly<Record<string, string>>): Shown => ({
  sort: sorts.find((sort) => sort === params['sort']) ?? 'published',
  view: params['view'] === 'calendar' ? 'calendar' : 'list',
  month: dayIn(`${params['month'] ?? ''}-01`).slice(0, 7),
});

export const tendersAddress = (filter: TenderFilter, { sort, view, month }: Partial<Shown> = {}): string =>
  addressOf(path, {
    q: filter.q.trim(),
    source: filter.sources.join(','),
    bundesland: filter.laender.join(','),
    cpv: filter.cpv.join(','),
    noticeType: filter.noticeTypes.join(','),
    buyer: filter.buyer.trim(),
    published: filter.published,
    publishedFrom: filter.publishedFrom,
    publishedTo: filter.publishedTo,
    due: filter.due,
    deadlineFrom: filter.deadlineFrom,
    deadlineTo: filter.deadlineTo,
    favorite: filter.favorite ? 'true' : '',
    unread: filter.unread ? 'true' : '',
    search: filter.search,
    sort: sort === 'published' ? '' : sort,
    view: view === 'list' ? '' : view,
    month: view === 'calendar' ? month : '',
  });

/** The parameters of `GET /tenders` and its facets. */
export interface TenderQuery {
  q?: string;
  source?: string;
  bundesland?: string;
  cpv?: string;
  noticeType?: string;
  buyer?: string;
  publishedFrom?: string;
  publishedTo?: string;
  deadlineFrom?: string;
  deadlineTo?: string;
  favorite?: true;
  unread?: true;
  savedSearchId?: string;
}

export function queryOf(filter: TenderFilter, today: string): TenderQuery {
  const { published } = periodsOf(filter, today);
  const deadline = deadlineDays(filter, today);
  return {
    ...(filter.q.trim() && { q: filter.q.trim() }),
    ...(filter.sources.length > 0 && { source: filter.sources.join(',') }),
    ...(filter.laender.length > 0 && { bundesland: filter.laender.join(',') }),
    ...(filter.cpv.length > 0 && { cpv: filter.cpv.join(',') }),
    ...(filter.noticeTypes.length > 0 && { noticeType: filter.noticeTypes.join(',') }),
    ...(filter.buyer.trim() && { buyer: filter.buyer.trim() }),
    ...(published.from && { publishedFrom: beginning(published.from) }),
    ...(published.to && { publishedTo: end(published.to) }),
    ...(deadline.from && { deadlineFrom: beginning(deadline.from) }),
    ...(deadline.to && { deadlineTo: end(deadline.to) }),
    ...(filter.favorite && { favorite: true }),
    ...(filter.unread && { unread: true }),
    ...(filter.search && { savedSearchId: filter.search }),
  };
}

export const beginning = (day: string): string => new Date(startOf(day)).toISOString();
export const end = (day: string): string => new Date(startOf(addDays(day, 1)) - 1).toISOString();

const periodsOf = (filter: TenderFilter, today: string) => ({
  published: filter.published
    ? { from: addDays(today, -Number(filter.published)), to: '' }
    : { from: filter.publishedFrom, to: filter.publishedTo },
});

/** The first and the last day of the deadlines that are asked for. */
export function deadlineDays({ due, deadlineFrom, deadlineTo }: TenderFilter, today: string) {
  if (!due) return { from: deadlineFrom, to: deadlineTo };
  const day = addDays(today, Number(due.slice(1)));
  return due.startsWith('w') ? { from: '', to: day } : { from: day, to: '' };
}

type Filters = SavedSearch['filters'];

/** What a saved search cannot keep of a filter. */
export type Unsaved = 'favorite' | 'unread' | 'publishedTo';

/** The filters of a saved search that finds the same. Days become distances from today, because a saved search goes on. */
export function savedFiltersOf(filter: TenderFilter, today: string): { filters: Filters; unsaved: Unsaved[] } {
  const { from } = periodsOf(filter, today).published;
  const deadline = deadlineDays(filter, today);
  const inDays = (day: string) => (day ? Math.max(0, daysBetween(today, day)) : null);
  const text = wordsOf(filter.q);
  const hasWords = text.all.length + text.phrases.length + text.none.length > 0;
  const unsaved: [Unsaved, boolean][] = [
    ['favorite', filter.favorite],
    ['unread', filter.unread],
    ['publishedTo', filter.published === '' && filter.publishedTo !== ''],
  ];
  return {
    filters: {
      version: 1,
      combine: 'all',
      includeRss: true,
      ...(hasWords && { text: { ...text, any: [], contains: [] } }),
      ...(filter.cpv.length > 0 && { cpv: { prefixes: [...filter.cpv], exclude: [], includeMissing: false } }),
      ...(filter.laender.length > 0 && {
        region: { laender: [...filter.laender], nuts: [], includeNationwide: true, includeUnknown: false },
      }),
      ...(filter.buyer.trim() && { buyer: { any: [filter.buyer.trim()], none: [] } }),
      ...(filter.noticeTypes.length > 0 && { kinds: [...filter.noticeTypes] }),
      ...(filter.sources.length > 0 && { sources: [...filter.sources] }),
      ...(from && { published: { sinceDays: Math.max(0, daysBetween(from, today)) } }),
      ...((deadline.from || deadline.to) && {
        deadline: { minDays: inDays(deadline.from), maxDays: inDays(deadline.to), includeUnknown: true },
      }),
    },
    unsaved: unsaved.flatMap(([name, isSet]) => (isSet ? [name] : [])),
  };
}

/** The words, phrases and excluded words of a search text, as the service reads it. */
export function wordsOf(typed: string): Record<'all' | 'phrases' | 'none', string[]> {
  const words: ReturnType<typeof wordsOf> = { all: [], phrases: [], none: [] };
  for (const [, minus, phrase, word] of typed.matchAll(/(-?)(?:"([^"]*)"|(\S+))/g)) {
    const term = (phrase ?? word ?? '').replaceAll('"', ' ').trim();
    if (!/[\p{L}\p{N}]/u.test(term)) continue;
    words[minus ? 'none' : phrase === undefined ? 'all' : 'phrases'].push(term);
  }
  return words;
}

/** The words that one search may have. */
export const maxWords = 20;

export const countWords = (typed: string): number => Object.values(wordsOf(typed)).flat().length;
