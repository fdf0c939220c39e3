import { eq, sql } from 'drizzle-orm';
import { type Arbitrary, array, boolean, constant, constantFrom, option, record, sample, subarray } from 'fast-check';
import { expect, it } from 'vitest';
import { tenderMatches } from '@portal/db/schema/tenders/matches';
import { TenderFilters } from '@portal/domain/tenders/filters';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import type { UserContext } from '@portal/platform/context';
import { testRuntime } from '@portal/testing/runtime';
import { noticeRecord } from '@portal/testing/tender-notices';
import { createFeed, listFeeds } from '../feeds.ts';
import { listTenders } from '../list-tenders.ts';
import { storeNotices } from '../store-notices.ts';
import { matchNewTenders } from './match-tenders.ts';
import { createSavedSearch } from './saved-searches.ts';

const { runtime, system, make, signedIn } = await testRuntime({ OUTBOUND_ALLOW_HOSTS: '127.0.0.1' });

// Words that the German stemmer does not change, and short enough not to be split.
const words = ['zebra', 'quarz', 'fjord', 'tango', 'lotus', 'mango'] as const;
const [day, now] = [86_400_000, Date.now()];
const inDays = (days: number) => new Date(now + days * day - 3_600_000).toISOString();

const some = <const T>(...values: T[]) => constantFrom(...values);
const texts = array(some(...words), { maxLength: 3 }).map((found) => found.join(' '));
const notices = record({
  title: texts,
  description: texts,
  lots: texts,
  buyer: texts,
  cpvCodes: subarray(['90911000', '90620000', '45210000', '72000000'], { maxLength: 2 }),
  bundeslaender: subarray(['NW', 'BY', 'BE'] as const, { maxLength: 2 }),
  isNationwide: boolean(),
  form: some('competition', 'competition', 'competition', 'result', null),
  procedureType: some('open', 'restricted', null),
  nature: some('works', 'services', null),
  deadline: some(null, 2, 10, 40),
  age: some(1, 5, 20),
  valueCents: some(null, null, 5_000_000, 20_000_000),
  currency: some('EUR', 'CHF'),
  source: some('ted', 'bund', 'oeffentlichevergabe', 'feed'),
});
type MadeUp = typeof notices extends Arbitrary<infer T> ? T : never;

const lists = subarray([...words, 'zeb*', 'tan*'], { maxLength: 2 });
const codes = subarray(['90', '9091', '45', '72000000'], { maxLength: 2 });
const maybe = <T>(value: Arbitrary<T>) => option(value, { nil: undefined, freq: 1 });
const days = some(null, 1, 5, 20);
const filtersAsked = (feed: string) =>
  record({
    text: maybe(
      record({
        all: subarray([...words], { maxLength: 1 }),
        any: lists,
        phrases: subarray(['zebra quarz', 'tango lotus', 'fjord mango'], { maxLength: 1 }),
        none: subarray([...words], { maxLength: 1 }),
        fields: maybe(subarray(['title', 'description', 'lots'] as const, { minLength: 1 })),
      }),
    ),
    cpv: maybe(record({ prefixes: codes, exclude: codes, includeMissing: boolean() })),
    combine: some('all', 'any'),
    region: maybe(
      record({
        laender: subarray(['NW', 'BY'] as const),
        includeNationwide: boolean(),
        includeUnknown: boolean(),
      }),
    ),
    deadline: maybe(record({ minDays: days, maxDays: days, includeUnknown: boolean() })),
    published: maybe(record({ sinceDays: days })),
    buyer: maybe(record({ any: subarray([...words], { maxLength: 2 }), none: subarray([...words], { maxLength: 1 }) })),
    kinds: maybe(subarray(['competition', 'result'] as const)),
    procedureTypes: maybe(subarray(['open', 'restricted'])),
    natures: maybe(subarray(['works', 'services'] as const)),
    value: maybe(
      record({
        min: some(null, 100_000),
        max: some(null, 100_000),
        currency: constant('EUR'),
        includeUnknown: boolean(),
      }),
    ),
    sources: maybe(subarray(['ted', 'bund', feed])),
    includeRss: boolean(),
  });

/** The meaning of filters, implemented again without the tested code. */
function naively(filters: TenderFilters, n: MadeUp, feed: string): boolean {
  const { text, cpv, region, deadline, published, buyer, kinds, procedureTypes, natures, value, sources } = filters;
  const ofField = { title: n.title, description: n.description, lots: n.lots };
  const fields = text?.fields?.map((field) => ofField[field]) ?? [...Object.values(ofField), n.buyer];
  const has = (list: string[], term: string) =>
    list.some((field) => {
      const start = term.endsWith('*') ? term.slice(0, -1) : null;
      const found = field.split(' ');
      return start === null ? ` ${field} `.includes(` ${term} `) : found.some((word) => word.startsWith(start));
    });
  const inText = (term: string) => has(fields, term);
  const coded = (prefixes: string[]) =>
    prefixes.some((prefix) => n.cpvCodes.some((code) => code.startsWith(prefix.replace(/(?<=^\d\d\d*?)0+$/, ''))));
  const asksWords = text !== undefined && text.all.length + text.any.length + text.phrases.length > 0;
  const asksCodes = cpv !== undefined && cpv.prefixes.length > 0;
  const worded =
    !asksWords ||
    (text.all.every(inText) && (text.any.length === 0 || text.any.some(inText)) && text.phrases.every(inText));
  const isCoded = !asksCodes || coded(cpv.prefixes) || (cpv.includeMissing && n.cpvCodes.length === 0);
  const wordsAndCodes = filters.combine === 'any' && asksWords && asksCodes ? worded || isCoded : worded && isCoded;
  const isUnknownRegion = !n.isNationwide && n.bundeslaender.length === 0;
  const inRegion =
    !region ||
    region.laender.length === 0 ||
    region.laender.some((land) => n.bundeslaender.includes(land as never)) ||
    (region.includeNationwide && n.isNationwide) ||
    (region.includeUnknown && isUnknownRegion);
  const left = n.deadline;
  const inTime =
    !deadline ||
    (left === null
      ? deadline.includeUnknown
      : (deadline.minDays === null || left > deadline.minDays) &&
        (deadline.maxDays === null || left <= deadline.maxDays));
  const isKind = kinds?.length
    ? n.form !== null && kinds.includes(n.form)
    : n.form === null || n.form === 'competition';
  const cents = n.currency === 'EUR' ? n.valueCents : null;
  const inValue =
    !value ||
    (cents === null
      ? value.includeUnknown
      : (value.min === null || cents >= value.min * 100) && (value.max === null || cents <= value.max * 100));
  const key = n.source === 'feed' ? feed : n.source;
  return (
    wordsAndCodes &&
    !(text?.none.some(inText) ?? false) &&
    !coded(cpv?.exclude ?? []) &&
    inRegion &&
    inTime &&
    (published?.sinceDays == null || n.age <= published.sinceDays) &&
    (!buyer || buyer.any.length === 0 || buyer.any.some((name) => has([n.buyer], name))) &&
    !(buyer?.none.some((name) => has([n.buyer], name)) ?? false) &&
    isKind &&
    (!procedureTypes?.length || procedureTypes.includes(n.procedureType ?? '')) &&
    (!natures?.length || (n.nature !== null && natures.includes(n.nature))) &&
    inValue &&
    (!sources?.length || sources.includes(key)) &&
    (filters.includeRss || n.source !== 'feed')
  );
}

const recordOf = (n: MadeUp, feed: string): NoticeRecord =>
  noticeRecord({
    // A separator word after each text, so that no phrase spans two texts.
    title: `${n.title} anfang`,
    description: `${n.description} mitte`,
    lots: [
      {
        id: '1',
        title: `${n.lots} los`,
        description: null,
        cpvCodes: [],
        nutsCodes: [],
        valueCents: null,
        currency: null,
      },
    ],
    buyerName: `${n.buyer} amt`,
    cpvCodes: n.cpvCodes,
    nutsCodes: [],
    bundeslaender: [...n.bundeslaender],
    isNationwide: n.isNationwide,
    form: n.form,
    procedureType: n.procedureType,
    nature: n.nature,
    publishedAt: inDays(-n.age + 0.1),
    deadlines: n.deadline === null ? [] : [{ kind: 'tender', lotId: null, at: inDays(n.deadline), isDateOnly: false }],
    valueCents: n.valueCents,
    currency: n.valueCents === null ? null : n.currency,
    sourcePortal: n.source === 'feed' ? feed : n.source,
  });

it('list and matcher find the same tenders for 200 random filters', { timeout: 60_000 }, async () => {
  const tenant = await make.tenant();
  const people = await Promise.all(
    Array.from({ length: 4 }, async () => signedIn(await make.user({ tenantId: tenant.id, role: 'ADMIN' }))),
  );
  const [owner] = people as [UserContext, ...UserContext[]];
  await createFeed(owner, { url: 'http://127.0.0.1:9/own.xml', scope: 'personal' });
  const feed = (await listFeeds(owner))[0]?.sourceKey ?? '';
  const asked = sample(filtersAsked(feed), 200).map((filters) =>
    TenderFilters.parse(JSON.parse(JSON.stringify(filters))),
  );
  const searches = [];
  for (const [n, filters] of asked.entries()) {
    const ctx = people[n % people.length] as UserContext;
    searches.push({
      ctx,
      filters,
      id: (await createSavedSearch(ctx, { name: `${n}`, filters, instantAlert: false })).id,
    });
  }
  const made = sample(notices, 90);
  const tenders = new Map<string, MadeUp>();
  for (const source of ['ted', 'bund', 'oeffentlichevergabe', 'feed'] as const)
    for (const n of made.filter((one) => one.source === source)) {
      const [id] = (await storeNotices(system(), [recordOf(n, feed)])).tenderIds;
      if (id) tenders.set(id, n);
    }
  expect(tenders.size).toBe(made.length);
  await matchNewTenders(system(), new AbortController().signal);
  let found = 0;
  for (const { ctx, filters, id } of searches) {
    const expected = [...tenders]
      .filter(([, n]) => (n.source !== 'feed' || ctx === owner) && naively(filters, n, feed))
      .map(([tenderId]) => tenderId)
      .toSorted();
    const listed = await listTenders(ctx, { filters, window: {}, triage: {}, sort: 'published', limit: 200 });
    const matched = await runtime.database.acrossTenants('a test reads', (tx) =>
      tx
        .select({ id: tenderMatches.tenderId })
        .from(tenderMatches)
        .where(eq(tenderMatches.searchId, id))
        .orderBy(sql`${tenderMatches.tenderId}`),
    );
    const about = JSON.stringify(filters);
    expect({ about, ids: listed.items.map((one) => one.id).toSorted() }).toEqual({ about, ids: expected });
    expect({ about, ids: matched.map((one) => one.id).toSorted() }).toEqual({ about, ids: expected });
    found += expected.length;
  }
  expect(found).toBeGreaterThan(200);
});
