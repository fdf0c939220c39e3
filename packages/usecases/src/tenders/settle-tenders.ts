import { inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenderChanges } from '@portal/db/schema/tenders/matches';
import { tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { primaryOf } from '@portal/domain/tenders/grouping';
import type { NoticeRecord } from '@portal/domain/tenders/notice-record';
import { shownSource } from '@portal/domain/tenders/sources';
import { searchDocumentOf, type SearchedNotice } from './search-document.ts';

/** Reads of its day in which a notice has to be missing before it counts as withdrawn. */
export const missesUntilWithdrawn = 2;

/** The fields of a notice that make up its tender's search row. */
export type Content = SearchedNotice &
  Pick<NoticeRecord, 'bundeslaender' | 'isNationwide' | 'cpvDivisions' | 'valueCents' | 'currency' | 'deadlines'>;

/**
 * Updates tenders after their notices changed: the primary notice, the visibility and the search row. `changed` has the notices with new
 * content, by id; the stored content of other notices is read only when one becomes primary.
 */
export async function settleTenders(
  tx: Tx,
  tenderIds: string[],
  changed: ReadonlyMap<string, Content> = new Map(),
): Promise<void> {
  if (tenderIds.length === 0) return;
  const notices = await tx
    .select({
      id: tenderNotices.id,
      tenderId: tenderNotices.tenderId,
      isPrimary: tenderNotices.isPrimary,
      sourcePortal: tenderNotices.sourceKey,
      isPublic: tenderNotices.isPublic,
      isWithdrawn: sql<boolean>`${tenderNotices.missedReads} >= ${missesUntilWithdrawn}`,
      isCancelled: tenderNotices.isCancelled,
      isCorrection: tenderNotices.isCorrection,
      form: tenderNotices.form,
      noticeUuid: tenderNotices.noticeUuid,
      noticeVersion: tenderNotices.noticeVersion,
      publicationNumber: tenderNotices.publicationNumber,
      changedNoticeUuid: tenderNotices.changedNoticeUuid,
      changedPublicationNumber: tenderNotices.changedPublicationNumber,
      publishedAt: tenderNotices.publishedAt,
    })
    .from(tenderNotices)
    .where(inArray(tenderNotices.tenderId, tenderIds));
  const states = [...Map.groupBy(notices, ({ tenderId }) => tenderId)].flatMap(([id, all]): TenderState[] => {
    const primary = primaryOf(all);
    if (!primary) return [];
    const shownAt = all
      .filter(({ isPublic }) => isPublic === primary.isPublic)
      .map(({ sourcePortal }) => shownSource(sourcePortal));
    const isCall = primary.form === null || primary.form === 'competition';
    return [
      {
        id,
        noticeId: primary.id,
        publishedAt: primary.publishedAt,
        sourceKeys: [...new Set(shownAt)].toSorted(),
        onlySource: primary.isPublic ? null : primary.sourcePortal,
        mayBeOpen: isCall && !primary.isCancelled && !primary.isWithdrawn,
        isNew: !primary.isPrimary || changed.has(primary.id),
        successor:
          primary.isCorrection || primary.isPrimary
            ? `${primary.noticeUuid ?? primary.id}/${primary.noticeVersion}`
            : null,
        isCorrection: primary.isCorrection,
        isCancelled: primary.isCancelled,
      },
    ];
  });
  await markPrimaries(
    tx,
    states,
    notices.filter(({ isPrimary }) => isPrimary).map(({ id }) => id),
  );
  await markTenders(tx, states);
  await writeSearch(
    tx,
    states.filter(({ isNew }) => isNew),
    changed,
  );
  await touchSearch(
    tx,
    states.filter(({ isNew }) => !isNew),
  );
}

/** The state of a tender that follows from its notices. */
interface TenderState {
  id: string;
  /** The primary notice: lists show the tender with its content. */
  noticeId: string;
  publishedAt: Date;
  sourceKeys: string[];
  onlySource: string | null;
  mayBeOpen: boolean;
  /** Whether the primary notice is another one than before, or has new content. */
  isNew: boolean;
  /** Notice and version if the primary notice corrects the one before or is a later version of it; null for a notice of another source. */
  successor: string | null;
  isCorrection: boolean;
  isCancelled: boolean;
}

async function markPrimaries(tx: Tx, states: TenderState[], before: string[]): Promise<void> {
  const [were, are] = [new Set(before), new Set(states.map(({ noticeId }) => noticeId))];
  const set = async (isPrimary: boolean, ids: Set<string>) => {
    if (ids.size > 0)
      await tx
        .update(tenderNotices)
        .set({ isPrimary })
        .where(inArray(tenderNotices.id, [...ids]));
  };
  // Clear first: the unique index allows one primary notice per tender at any moment.
  await set(false, were.difference(are));
  await set(true, are.difference(were));
}

const markTenders = (tx: Tx, states: TenderState[]) =>
  tx.execute(sql`
    update ${tenders} t set only_source = s.only_source, changed_at = case when s.is_new then now() else t.changed_at end
    from json_to_recordset(${JSON.stringify(
      states.map(({ id, onlySource, isNew }) => ({ id, only_source: onlySource, is_new: isNew })),
    )}::json) s (id uuid, only_source text, is_new boolean)
    where t.id = s.id and (s.is_new or t.only_source is distinct from s.only_source)`);

async function writeSearch(tx: Tx, states: TenderState[], changed: ReadonlyMap<string, Content>): Promise<void> {
  if (states.length === 0) return;
  const stored = await contentsOf(
    tx,
    states.map(({ noticeId }) => noticeId).filter((id) => !changed.has(id)),
  );
  const rows = states.flatMap((tender) => {
    const content = changed.get(tender.noticeId) ?? stored.get(tender.noticeId);
    if (!content) return [];
    const { deadlines, bundeslaender, isNationwide, cpvDivisions, valueCents, currency } = content;
    return [
      {
        tender_id: tender.id,
        only_source: tender.onlySource,
        published_at: tender.publishedAt,
        deadlines: deadlines.map(({ at, isDateOnly }) => ({ at, is_date_only: isDateOnly })),
        may_be_open: tender.mayBeOpen,
        source_keys: tender.sourceKeys,
        bundeslaender,
        is_nationwide: isNationwide,
        cpv_divisions: cpvDivisions,
        value_cents: valueCents,
        currency,
        successor: tender.successor,
        is_correction: tender.isCorrection,
        is_cancelled: tender.isCancelled,
        ...searchDocumentOf(content),
      },
    ];
  });
  await noteChanges(
    tx,
    rows.filter(({ successor }) => successor !== null),
  );
  const [personal, publicRows] = [
    rows.filter((row) => row.only_source !== null),
    rows.filter((row) => row.only_source === null),
  ];
  await upsertSearch(tx, 'tender_search', publicRows);
  await upsertSearch(tx, 'personal_tender_search', personal);
  // A tender that a public source lists is no longer personal.
  if (publicRows.length > 0)
    await tx.delete(personalTenderSearch).where(
      inArray(
        personalTenderSearch.tenderId,
        publicRows.map((row) => row.tender_id),
      ),
    );
}

interface Changed {
  tender_id: string;
  successor: string | null;
  is_correction: boolean;
  is_cancelled: boolean;
  deadlines: { at: string; is_date_only: boolean }[];
}

/** Records changes of tenders that were listed before: cancelled, another deadline, or corrected. */
async function noteChanges(tx: Tx, rows: Changed[]): Promise<void> {
  if (rows.length === 0) return;
  const changed = rows.map(({ tender_id, successor, is_correction, is_cancelled, deadlines }) => ({
    tender_id,
    successor,
    is_correction,
    is_cancelled,
    deadlines,
  }));
  await tx.execute(sql`
    insert into ${tenderChanges} (id, tender_id, successor, kind)
    select gen_random_uuid(), tender_id, successor, kind from (
      select r.tender_id, r.successor, case
        when r.is_cancelled then case when before.is_open then 'cancelled' end
        when coalesce(last.at, 'infinity') <> before.open_until then 'deadline'
        when r.is_correction then 'corrected' end::tender_change_kind as kind
      from json_to_recordset(${JSON.stringify(changed)}::json) r (
        tender_id uuid, successor text, is_correction boolean, is_cancelled boolean, deadlines json)
      join lateral (
        select is_open, open_until from ${tenderSearch} where tender_id = r.tender_id
        union all select is_open, open_until from ${personalTenderSearch} where tender_id = r.tender_id) before on true
      left join lateral (${deadlinesOf(sql`r.deadlines`)} order by d.at desc limit 1) last on true) change
    where kind is not null
    on conflict do nothing`);
}

const weighted = (text: string, weight: string) => sql.raw(`setweight(to_tsvector('german', r.${text}), '${weight}')`);

async function upsertSearch(
  tx: Tx,
  table: 'tender_search' | 'personal_tender_search',
  rows: { tender_id: string }[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = [
    'tender_id',
    'published_at',
    'deadline_at',
    'deadline_is_date_only',
    'open_until',
    'is_open',
    'source_keys',
    'bundeslaender',
    'is_nationwide',
    'cpv_divisions',
    'value_cents',
    'currency',
    'titles',
    'document',
    ...(table === 'personal_tender_search' ? ['only_source'] : []),
  ];
  await tx.execute(sql`
    insert into ${sql.identifier(table)} (${sql.raw(columns.join(', '))})
    select r.tender_id, r.published_at, coalesce(next.at, last.at, 'infinity'),
      coalesce(next.is_date_only, last.is_date_only, false), coalesce(last.at, 'infinity'),
      r.may_be_open and coalesce(last.at, 'infinity') > now(),
      r.source_keys, r.bundeslaender, r.is_nationwide, r.cpv_divisions, r.value_cents, r.currency, r.titles,
      ${weighted('text_a', 'A')} || ${weighted('text_b', 'B')} || ${weighted('text_c', 'C')} || ${weighted('text_d', 'D')}
        || ${weighted('parts', 'D')} || array_to_tsvector(r.markers)
      ${table === 'personal_tender_search' ? sql`, r.only_source` : sql``}
    from json_to_recordset(${JSON.stringify(rows)}::json) r (
      tender_id uuid, only_source text, published_at timestamptz, deadlines json, may_be_open boolean, source_keys text[],
      bundeslaender text[], is_nationwide boolean, cpv_divisions text[], value_cents bigint, currency text,
      titles text, text_a text, text_b text, text_c text, text_d text, parts text, markers text[])
    left join lateral (${deadlinesOf(sql`r.deadlines`)} where d.at > now() order by d.at limit 1) next on true
    left join lateral (${deadlinesOf(sql`r.deadlines`)} order by d.at desc limit 1) last on true
    on conflict (tender_id) do update set ${sql.raw(columns.map((name) => `${name} = excluded.${name}`).join(', '))}`);
}

const deadlinesOf = (json: ReturnType<typeof sql>) =>
  sql`select d.at, d.is_date_only from json_to_recordset(${json}) d (at timestamptz, is_date_only boolean)`;

/** The searched content of stored notices, by id. */
async function contentsOf(tx: Tx, noticeIds: string[]): Promise<Map<string, Content>> {
  if (noticeIds.length === 0) return new Map();
  const rows = await tx
    .select({
      id: tenderNotices.id,
      sourcePortal: tenderNotices.sourceKey,
      title: tenderNotices.title,
      description: tenderNotices.description,
      buyerName: tenderNotices.buyerName,
      cpvCodes: tenderNotices.cpvCodes,
      cpvDivisions: tenderNotices.cpvDivisions,
      nutsCodes: tenderNotices.nutsCodes,
      bundeslaender: tenderNotices.bundeslaender,
      isNationwide: tenderNotices.isNationwide,
      form: tenderNotices.form,
      procedureType: tenderNotices.procedureType,
      nature: tenderNotices.nature,
      valueCents: tenderNotices.valueCents,
      currency: tenderNotices.currency,
      deadlines: tenderNotices.deadlines,
      lots: tenderNotices.lots,
    })
    .from(tenderNotices)
    .where(inArray(tenderNotices.id, noticeIds));
  // `storeNotices` wrote the columns from records of these types.
  return new Map(rows.map(({ id, ...content }) => [id, content as Content]));
}

/** Updates the search rows of tenders whose content is unchanged: only their sources and whether they are open can differ. */
async function touchSearch(tx: Tx, states: TenderState[]): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map(({ id, sourceKeys, mayBeOpen }) => ({
    id,
    source_keys: sourceKeys,
    may_be_open: mayBeOpen,
  }));
  for (const table of [tenderSearch, personalTenderSearch])
    await tx.execute(sql`
      update ${table} t set source_keys = s.source_keys, is_open = s.may_be_open and t.open_until > now()
      from json_to_recordset(${JSON.stringify(rows)}::json) s (id uuid, source_keys text[], may_be_open boolean)
      where t.tender_id = s.id
        and (t.source_keys <> s.source_keys or t.is_open <> (s.may_be_open and t.open_until > now()))`);
}

/** Closes tenders whose last deadline has passed, and moves the others to their next deadline. Returns the number of rows changed. */
export async function followDeadlines(tx: Tx, limit: number): Promise<number> {
  let rows = 0;
  for (const table of [tenderSearch, personalTenderSearch]) {
    const { rowCount } = await tx.execute(sql`
      update ${table} t set is_open = t.open_until > now(), deadline_at = coalesce(next.at, t.deadline_at),
        deadline_is_date_only = coalesce(next.is_date_only, t.deadline_is_date_only)
      from (select tender_id from ${table} where is_open and deadline_at <= now() limit ${limit}) due
      left join ${tenderNotices} n on n.tender_id = due.tender_id and n.is_primary
      left join lateral (
        select d.at, d."isDateOnly" as is_date_only from jsonb_to_recordset(n.deadlines) d (at timestamptz, "isDateOnly" boolean)
        where d.at > now() order by d.at limit 1) next on true
      where t.tender_id = due.tender_id`);
    rows += rowCount ?? 0;
  }
  return rows;
}
