import { inArray, type SQL, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { tenants } from '@portal/db/schema/tenants';
import { tenderChangeNotices, tenderChanges, tenderMatches, unmatchedTenders } from '@portal/db/schema/tenders/matches';
import { savedSearches, tenderPreferences } from '@portal/db/schema/tenders/saved-searches';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { rssFeeds } from '@portal/db/schema/tenders/sources';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import { indexDocuments } from '@portal/domain/tenders/match-index';
import { asksForPlace, type QuestionTree, readQuestion } from '@portal/domain/tenders/question-tree';
import type { SystemContext } from '@portal/platform/context';
import { holdMerges } from '../merge-tenders.ts';
import { matchesBounds, type SearchBounds, searchedColumns } from '../search.ts';
import { compileOutdated } from './compile-search.ts';

export interface MatchLimits {
  /** Tenders matched in one transaction, and pairs of tender and search looked at in it: fewer tenders where searches find much. */
  tenders: number;
  pairs: number;
  /** Searches read at once. */
  searches: number;
}
const usualLimits: MatchLimits = { tenders: 1_000, pairs: 200_000, searches: 5_000 };
/** Pairs in one statement. */
const portion = 10_000;
const mostReasons = 5;
/** Questions kept between batches. */
const mostRemembered = 50_000;

/**
 * Asks all saved searches of active tenants about the tenders that are new or different, and notes what they find: once for each tender
 * and search, however often it comes. What is interrupted is asked again.
 */
export async function matchNewTenders(system: SystemContext, signal: AbortSignal, limits = usualLimits): Promise<void> {
  await compileOutdated(system, signal);
  const questions = rememberedQuestions();
  for (let tenders = 1; tenders > 0;) {
    signal.throwIfAborted();
    tenders = await system.acrossTenants('new tenders are matched with saved searches', async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.tenderMatching})`);
      await holdMerges(tx);
      return matchBatch(system, tx, { questionOf: questions, limits });
    });
  }
}

interface Question {
  tree: QuestionTree;
  asksForPlace: boolean;
}

/** Reads each question once: most are asked again of every batch. */
function rememberedQuestions(): (text: string) => Question {
  const known = new Map<string, Question>();
  return (text) => {
    let question = known.get(text);
    if (!question) {
      if (known.size === mostRemembered) known.clear();
      const tree = readQuestion(text);
      known.set(text, (question = { tree, asksForPlace: asksForPlace(tree) }));
    }
    return question;
  };
}

interface Matching {
  questionOf: (text: string) => Question;
  limits: MatchLimits;
}

/** Answers how many tenders have been matched. */
async function matchBatch(system: SystemContext, tx: Tx, matching: Matching): Promise<number> {
  const queued = await queuedTenders(tx, matching.limits);
  if (queued.length === 0) return 0;
  const pairs = await proposePairs(tx, queued, matching);
  const found = await writeMatches(tx, pairs);
  const done = queued.slice(0, pairs.tenders).map(({ id }) => id);
  await noteChanges(tx, done);
  await tx.delete(unmatchedTenders).where(inArray(unmatchedTenders.tenderId, done));
  system.metrics.countTenderMatches(found);
  return done.length;
}

interface QueuedTender extends Record<string, unknown> {
  id: string;
  isOpen: boolean;
  /** None where nothing is searched of it: it has become another’s meanwhile. */
  words: string[] | null;
}

const queuedTenders = async (tx: Tx, limits: MatchLimits): Promise<QueuedTender[]> => {
  const { rows } = await tx.execute<QueuedTender>(sql`
    select u.tender_id as id, coalesce(t.is_open, own.is_open, false) as "isOpen",
      tsvector_to_array(coalesce(t.document, own.document)) as words
    from (
      select tender_id from ${unmatchedTenders} order by stored_at, tender_id limit ${limits.tenders} for update skip locked) u
    left join ${tenderSearch} t on t.tender_id = u.tender_id
    left join ${personalTenderSearch} own on own.tender_id = u.tender_id`);
  return rows;
};

interface Search extends Record<string, unknown> {
  id: string;
  question: string | null;
  bounds: string;
  labels: string[];
  questions: string[];
}

/** Pairs that may match, by what the searches ask beside words. */
interface Pairs {
  byBounds: Map<string, Pair[]>;
  /** How many of the tenders they are about. */
  tenders: number;
}

interface Pair {
  searchId: string;
  tenderId: string;
  /** What it is due to, where the index is sure that words and markers match; null where the database has to be asked. */
  reasons: string | null;
}

/** A search that may have found some of these tenders. */
interface Proposal {
  searchId: string;
  bounds: string;
  places: number[];
  /** What each of these is due to, as pairs have it. */
  reasons: (string | null)[];
}

/**
 * Looks every question up in an index of these few tenders. The index knows words and not their places, so it is sure of most questions,
 * and of phrases and fields it says which may fit. Everything else is left to the database. Where searches find much, the tenders become
 * fewer, and the others have their turn in the next transaction.
 */
async function proposePairs(tx: Tx, queued: QueuedTender[], { questionOf, limits }: Matching): Promise<Pairs> {
  const index = indexDocuments(queued.map(({ words }) => words ?? []));
  const openOnly = new Map<string, boolean>();
  let proposals: Proposal[] = [];
  let tenders = queued.length;
  let count = 0;
  for await (const search of activeSearches(tx, limits.searches)) {
    const { bounds } = search;
    const isOpenOnly = openOnly.get(bounds) ?? (JSON.parse(bounds) as SearchBounds).isOpenOnly;
    openOnly.set(bounds, isOpenOnly);
    const question = search.question === null ? null : questionOf(search.question);
    const found = question ? index.candidates(question.tree) : [...queued.keys()];
    const places = found.filter(
      (place) => place < tenders && queued[place]?.words && (!isOpenOnly || queued[place].isOpen),
    );
    if (places.length === 0) continue;
    const terms = search.questions.map((text) => (text === '' ? null : questionOf(text)));
    // A term may ask for places where its search does not: with fields or a phrase beside something else.
    const isSure = question?.asksForPlace !== true && terms.every((term) => term?.asksForPlace !== true);
    const reasonsAt = (place: number): string =>
      search.labels
        .filter((_label, n) => terms[n] && index.holds(terms[n].tree, place))
        .slice(0, mostReasons)
        .join('\n');
    const reasons = places.map((place) => (isSure ? reasonsAt(place) : null));
    proposals.push({ searchId: search.id, bounds, places, reasons });
    count += places.length;
    while (count > limits.pairs && tenders > 1) {
      tenders = Math.ceil(tenders / 2);
      proposals = proposals.flatMap((proposal) => firstOf(proposal, tenders));
      count = proposals.reduce((sum, proposal) => sum + proposal.places.length, 0);
    }
  }
  const byBounds = new Map<string, Pair[]>();
  for (const { searchId, bounds, places, reasons } of proposals) {
    const pairs = byBounds.get(bounds) ?? [];
    byBounds.set(bounds, pairs);
    for (const [n, place] of places.entries())
      pairs.push({ searchId, tenderId: queued[place]?.id ?? '', reasons: reasons[n] ?? null });
  }
  return { byBounds, tenders };
}

/** What a proposal says of the first tenders; nothing where it says nothing of these. */
function firstOf({ places, reasons, ...proposal }: Proposal, tenders: number): Proposal[] {
  const kept = places.filter((place) => place < tenders).length;
  // Places ascend.
  return kept === 0 ? [] : [{ ...proposal, places: places.slice(0, kept), reasons: reasons.slice(0, kept) }];
}

/** Those of tenants that are not at rest, some at a time: there may be any number. */
async function* activeSearches(tx: Tx, atOnce: number): AsyncGenerator<Search> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await tx.execute<Search>(sql`
      select s.id, s.question::text as question, s.bounds, s.term_labels as labels, s.term_questions as questions
      from ${savedSearches} s join ${tenants} tenant on tenant.id = s.tenant_id and tenant.is_active
      where s.id > ${after} order by s.id limit ${atOnce}`);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < atOnce) return;
    after = last.id;
  }
}

const mailboxOfSearcher = sql`'mailbox:' || s.user_id::text`;

/** Whether a source is the searcher’s own, as the policies say it of the account at work. */
const isOwn = (source: SQL) =>
  sql`(${source} = ${mailboxOfSearcher}
    or exists (select from ${rssFeeds} feed where feed.source_key = ${source} and feed.user_id = s.user_id))`;

const searcher = { sees: sql`(n.is_public or ${isOwn(sql`n.source_key`)})`, mailbox: mailboxOfSearcher };

async function writeMatches(tx: Tx, { byBounds }: Pairs): Promise<number> {
  let found = 0;
  for (const [bounds, pairs] of byBounds) {
    const isWithin = matchesBounds(JSON.parse(bounds) as SearchBounds, searcher);
    for (let from = 0; from < pairs.length; from += portion)
      found += await writePortion(tx, pairs.slice(from, from + portion), isWithin);
  }
  return found;
}

async function writePortion(tx: Tx, pairs: Pair[], isWithin: SQL): Promise<number> {
  const searches = numbered(pairs.map(({ searchId }) => searchId));
  const tenders = numbered(pairs.map(({ tenderId }) => tenderId));
  const param = (values: unknown[]) => sql`${sql.param(values)}`;
  const { rowCount } = await tx.execute(sql`
    with s as materialized (
      select s.*, given.n, preference.digest is not distinct from 'off' and not s.instant_alert as is_untold
      from unnest(${param(searches.values)}::uuid[]) with ordinality given (id, n)
      join ${savedSearches} s on s.id = given.id
      left join ${tenderPreferences} preference on preference.tenant_id = s.tenant_id and preference.user_id = s.user_id),
    t as materialized (
      select t.*, given.n, u.is_told from unnest(${param(tenders.values)}::uuid[]) with ordinality given (id, n)
      join ${unmatchedTenders} u on u.tender_id = given.id
      join lateral (
        select ${searchedColumns}, null::text as only_source from ${tenderSearch} where tender_id = given.id
        union all select ${searchedColumns}, only_source from ${personalTenderSearch} where tender_id = given.id) t on true)
    insert into ${tenderMatches} (tenant_id, search_id, tender_id, kind, reasons, notified_at)
    select s.tenant_id, s.id, t.tender_id, case when s.instant_alert then 'instant' else 'digest' end::tender_alert_kind,
      case when p.reasons is not null then string_to_array(p.reasons, E'\\n') else array(
        select term.label from unnest(s.term_labels, s.term_questions) term (label, question)
        where t.document @@ term.question::tsquery limit ${mostReasons}) end,
      case when s.is_untold or not t.is_told then now() end
    from unnest(${param(searches.numbers)}::int[], ${param(tenders.numbers)}::int[], ${param(
      pairs.map(({ reasons }) => reasons),
    )}::text[]) p (search, tender, reasons)
    join s on s.n = p.search join t on t.n = p.tender
    where (p.reasons is not null or s.question is null or t.document @@ s.question)
      and (t.only_source is null or ${isOwn(sql`t.only_source`)})
      and ${isWithin}
    on conflict do nothing`);
  return rowCount ?? 0;
}

/** The different values, and for each of these its number among them, from one on. */
function numbered(all: string[]): { values: string[]; numbers: number[] } {
  const places = new Map<string, number>();
  const numbers = all.map((value) => {
    const known = places.get(value) ?? places.size + 1;
    places.set(value, known);
    return known;
  });
  return { values: [...places.keys()], numbers };
}

/** Whoever keeps an eye on a tender, or was told of it, is to be told of what has changed since it was matched last. */
const noteChanges = (tx: Tx, tenderIds: string[]) =>
  tx.execute(sql`
    insert into ${tenderChangeNotices} (tenant_id, user_id, change_id)
    select distinct w.tenant_id, w.user_id, c.id
    from ${unmatchedTenders} u
    join ${tenderChanges} c on c.tender_id = u.tender_id and c.at >= u.stored_at
    join lateral (
      select noted.tenant_id, noted.user_id from ${tenderTriage} noted where noted.tender_id = u.tender_id and noted.is_favorite
      union
      select s.tenant_id, s.user_id from ${tenderMatches} m join ${savedSearches} s on s.id = m.search_id
      where m.tender_id = u.tender_id and m.is_told) w on true
    join ${tenants} tenant on tenant.id = w.tenant_id and tenant.is_active
    left join ${tenderPreferences} preference on preference.tenant_id = w.tenant_id and preference.user_id = w.user_id
    where u.is_told and u.tender_id = any(${sql.param(tenderIds)}::uuid[]) and preference.digest is distinct from 'off'
    on conflict do nothing`);
