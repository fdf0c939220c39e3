import { type SQL, sql } from 'drizzle-orm';
import { tenderNotices } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { ownMailbox } from '@portal/db/schema/tenders/sources';
import { tenderTriage } from '@portal/db/schema/tenders/triage';
import type { TenderFilters } from '@portal/domain/tenders/filters';
import { type CompiledSearch, compileFilters } from '@portal/domain/tenders/search-query';
import { isSettingsSource, mailboxKey } from '@portal/domain/tenders/sources';

/** Absolute time bounds; filters have only bounds relative to today. */
export interface TenderWindow {
  publishedFrom?: Date | undefined;
  publishedTo?: Date | undefined;
  deadlineFrom?: Date | undefined;
  deadlineTo?: Date | undefined;
}

/** Conditions on the triage of the account, and filters that narrow a saved search. */
export interface TriageFilter {
  favorite?: boolean | undefined;
  unread?: boolean | undefined;
  /** Applied to the results of a saved search, which alone decides whether tenders have to be open. */
  narrower?: TenderFilters | undefined;
}

/** By name: the column order of the two tables differs. */
export const searchedColumns = sql.raw(
  'tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys, bundeslaender, is_nationwide, cpv_divisions, value_cents, currency, titles, document',
);

/** Every tender the current account may see, as `t`. */
export const searchedTenders = sql`(
  select ${searchedColumns} from ${tenderSearch} union all select ${searchedColumns} from ${personalTenderSearch}) t`;

/** The tsquery of words and markers; null if the search has neither. */
export function documentQuestion({ all, either }: CompiledSearch): SQL | null {
  const questions = ({ words, markers }: typeof all) => [
    ...(words === null ? [] : [sql`to_tsquery('german', ${words})`]),
    ...(markers === null ? [] : [sql`${markers}::tsquery`]),
  ];
  const parts = [...(either ? [sql`(${sql.join(questions(either), sql` || `)})`] : []), ...questions(all)];
  return parts.length === 0 ? null : sql`(${sql.join(parts, sql` && `)})`;
}

/** The condition of filters on rows named `t` with `searchedColumns`. */
export const matchesFilters = (filters: TenderFilters): SQL => matchesCompiled(compileFilters(filters));

function matchesCompiled(search: CompiledSearch): SQL {
  const question = documentQuestion(search);
  // Words that are too common leave an empty tsquery, which would match nothing.
  const asked = question ? sql`(t.document @@ ${question} or numnode(${question}) = 0)` : sql`true`;
  return sql`${asked} and ${matchesBounds(search)}`;
}

/** The conditions of a search except words and markers. */
export type SearchBounds = Omit<CompiledSearch, 'all' | 'either'>;

/** The notices (as `n`) that the searching account may see, and the key of its mailbox. */
interface Viewer {
  sees: SQL;
  mailbox: SQL;
}

/** The current account: row policies already limit what it sees. */
const currentViewer: Viewer = { sees: sql`true`, mailbox: ownMailbox };

/** The condition of the bounds on rows named `t`, for the current account or for the owner of each search. */
export function matchesBounds(search: SearchBounds, viewer: Viewer = currentViewer): SQL {
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
 * The flag limits lists of open calls to some tens of thousands of a million rows. The deadline decides, so a late job shows no closed
 * call.
 *
 * Nearly all rows with the flag have time left. Without `coalesce`, PostgreSQL treats the two conditions as independent, expects few hits,
 * and reads all index entries of a frequent word instead of scanning the newest tenders first.
 */
const isOpen = sql`t.is_open and coalesce(t.open_until > now(), false)`;

/** A tender without a known deadline matches any upper bound. */
const dueBy = (end: SQL) => sql`(t.deadline_at <= ${end} or t.deadline_at = 'infinity')`;

/**
 * Whether one of the sources lists the tender. The row of a public tender names its public sources; a personal source that also lists it
 * is found in the notices, which only its owners see.
 */
function shownAt(sources: string[], viewer: Viewer): SQL {
  const listed = sources.filter((key) => isSettingsSource(key) || key === mailboxKey);
  const isListed = sql`t.source_keys && ${sql.param(listed)}::text[]`;
  if (sources.every(isSettingsSource)) return isListed;
  const others = sql`${sql.param(sources.filter((key) => !isSettingsSource(key)))}::text[]`;
  // `mailbox` means the viewer's own mailbox.
  const keys = sources.includes(mailboxKey) ? sql`(${others} || (${viewer.mailbox}))` : others;
  const ids = sql`select n.tender_id from ${tenderNotices} n where n.source_key = any(${keys}) and ${viewer.sees}`;
  // For the owners of many searches the list differs per row.
  const notices = viewer === currentViewer ? isOneOf(ids) : sql`t.tender_id in (${ids})`;
  return listed.length === 0 ? notices : sql`(${isListed} or ${notices})`;
}

/** An array rather than a join: PostgreSQL looks up each id, where a join would scan everything. */
const isOneOf = (ids: SQL) => sql`t.tender_id = any(array(${ids}))`;

/** The condition of time bounds and of the triage of `userId` on rows named `t`. */
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
