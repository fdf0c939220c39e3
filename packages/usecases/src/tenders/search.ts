import { type SQL, sql } from 'drizzle-orm';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { ownMailbox } from '@portal/db/schema/tenders/sources';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import type { TenderFilters } from '@portal/domain/tenders/filters';
import { type CompiledSearch, compileFilters } from '@portal/domain/tenders/search-query';
import { isSettingsSource, mailboxKey } from '@portal/domain/tenders/sources';

/** Times between which, by the calendar; filters know only how far from today. */
export interface TenderWindow {
  publishedFrom?: Date | undefined;
  publishedTo?: Date | undefined;
  deadlineFrom?: Date | undefined;
  deadlineTo?: Date | undefined;
}

/** What an account has noted, and what it asks besides. */
export interface TriageFilter {
  favorite?: boolean | undefined;
  unread?: boolean | undefined;
  /** Asked of what a saved search finds: whether tenders are to be open is for that to say. */
  narrower?: TenderFilters | undefined;
}

/** By name: in the two tables they do not stand in one order. */
export const searchedColumns = sql.raw(
  'tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys, bundeslaender, is_nationwide, cpv_divisions, value_cents, currency, titles, document',
);

/** Every tender the account at work may see, as `t`. */
export const searchedTenders = sql`(
  select ${searchedColumns} from ${tenderSearch} union all select ${searchedColumns} from ${personalTenderSearch}) t`;

/** The question of words and markers; null where nothing of that is asked. */
export function documentQuestion({ all, either }: CompiledSearch): SQL | null {
  const questions = ({ words, markers }: typeof all) => [
    ...(words === null ? [] : [sql`to_tsquery('german', ${words})`]),
    ...(markers === null ? [] : [sql`${markers}::tsquery`]),
  ];
  const parts = [...(either ? [sql`(${sql.join(questions(either), sql` || `)})`] : []), ...questions(all)];
  return parts.length === 0 ? null : sql`(${sql.join(parts, sql` && `)})`;
}

/** What is true of the tenders that filters ask for: a condition on rows named `t` with the columns of the search. */
export const matchesFilters = (filters: TenderFilters): SQL => matchesCompiled(compileFilters(filters));

function matchesCompiled(search: CompiledSearch): SQL {
  const question = documentQuestion(search);
  // Words too common to be searched ask for nothing, and whatever asks for nothing finds nothing.
  const asked = question ? sql`(t.document @@ ${question} or numnode(${question}) = 0)` : sql`true`;
  return sql`${asked} and ${matchesBounds(search)}`;
}

/** What a search asks for beside words and markers. */
export type SearchBounds = Omit<CompiledSearch, 'all' | 'either'>;

/** Which notices, as `n`, whoever asks may see, and the key of their own mailbox. */
interface Viewer {
  sees: SQL;
  mailbox: SQL;
}

/** The account at work: policies show it what it may see. */
const atWork: Viewer = { sees: sql`true`, mailbox: ownMailbox };

/** The same for what is asked beside words and markers, for one viewer or for each of many. */
export function matchesBounds(search: SearchBounds, viewer: Viewer = atWork): SQL {
  const { contains, deadline, sinceDays, value, sources } = search;
  const conditions: SQL[] = [
    ...(contains ? [containsAll(contains)] : []),
    ...(search.isOpenOnly ? [isOpen] : []),
    ...(sinceDays === null ? [] : [sql`t.published_at >= now() - make_interval(days => ${sinceDays}::int)`]),
    ...(sources ? [shownAt(sources, viewer)] : []),
  ];
  if (deadline) {
    const { minDays, maxDays, includeUnknown } = deadline;
    const inDays = (days: number) => sql`now() + make_interval(days => ${days}::int)`;
    if (minDays !== null) conditions.push(sql`t.deadline_at >= ${inDays(minDays)}`);
    if (maxDays !== null) conditions.push(dueBy(inDays(maxDays)));
    if (!includeUnknown) conditions.push(sql`t.deadline_at < 'infinity'`);
  }
  if (value && (value.minCents !== null || value.maxCents !== null || !value.includeUnknown)) {
    const { minCents, maxCents, currency, includeUnknown } = value;
    const isUnknown = sql`(t.value_cents is null or t.currency is distinct from ${currency})`;
    const isWithin = sql`coalesce(t.currency = ${currency} and t.value_cents between ${minCents ?? 0}::bigint and ${maxCents ?? Number.MAX_SAFE_INTEGER}::bigint, false)`;
    conditions.push(includeUnknown ? sql`(${isUnknown} or ${isWithin})` : isWithin);
  }
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

function containsAll({ pieces, orMarkers }: NonNullable<CompiledSearch['contains']>): SQL {
  const found = pieces.map((piece) => sql`strpos(t.titles, ${piece}) > 0`);
  const all = sql.join(found, sql` and `);
  return orMarkers === null ? all : sql`(${all} or t.document @@ ${orMarkers}::tsquery)`;
}

/**
 * Nearly all that have the flag have time left. Asked bare, the server takes the two for independent, expects a few hits, and collects
 * every place of a frequent word instead of walking the newest first.
 */
const isOpen = sql`t.is_open and coalesce(t.open_until > now(), false)`;

/** A deadline that is not known may be any. */
const dueBy = (end: SQL) => sql`(t.deadline_at <= ${end} or t.deadline_at = 'infinity')`;

/**
 * Of a public tender the row says which public sources show it. What a personal source shows besides stands in its notices, which
 * are seen by those it is for.
 */
function shownAt(sources: string[], viewer: Viewer): SQL {
  const listed = sources.filter((key) => isSettingsSource(key) || key === mailboxKey);
  const isListed = sql`t.source_keys && ${sql.param(listed)}::text[]`;
  if (sources.every(isSettingsSource)) return isListed;
  const others = sql`${sql.param(sources.filter((key) => !isSettingsSource(key)))}::text[]`;
  // Of all mailboxes that of whoever asks.
  const kept = sources.includes(mailboxKey) ? sql`(${others} || (${viewer.mailbox}))` : others;
  const ids = sql`select n.tender_id from ${tenderNotices} n where n.source_key = any(${kept}) and ${viewer.sees}`;
  // Of each of many viewers it is another list.
  const notices = viewer === atWork ? isOneOf(ids) : sql`t.tender_id in (${ids})`;
  return listed.length === 0 ? notices : sql`(${isListed} or ${notices})`;
}

/** As a list rather than a join: each of them is then looked for by its id, where a join would read through everything. */
const isOneOf = (ids: SQL) => sql`t.tender_id = any(array(${ids}))`;

/** The same for times of the calendar and for what `userId` has noted. */
export function matchesBesides(
  { publishedFrom, publishedTo, deadlineFrom, deadlineTo }: TenderWindow,
  { favorite, unread, narrower }: TriageFilter,
  userId: string,
): SQL {
  const at = (time: Date) => sql`${time.toISOString()}::timestamptz`;
  const noted = (flag: SQL) =>
    sql`select noted.tender_id from ${tenderTriage} noted where noted.user_id = ${userId} and ${flag}`;
  const is = (wanted: boolean, ids: SQL) => (wanted ? isOneOf(ids) : sql`t.tender_id not in (${ids})`);
  return sql.join(
    [
      sql`true`,
      ...(narrower ? [matchesCompiled({ ...compileFilters(narrower), isOpenOnly: false })] : []),
      ...(publishedFrom ? [sql`t.published_at >= ${at(publishedFrom)}`] : []),
      ...(publishedTo ? [sql`t.published_at <= ${at(publishedTo)}`] : []),
      ...(deadlineFrom ? [sql`t.deadline_at >= ${at(deadlineFrom)}`] : []),
      ...(deadlineTo ? [dueBy(at(deadlineTo))] : []),
      ...(favorite === undefined ? [] : [is(favorite, noted(sql`noted.is_favorite`))]),
      ...(unread === undefined ? [] : [is(!unread, noted(sql`noted.is_read`))]),
    ],
    sql` and `,
  );
}
