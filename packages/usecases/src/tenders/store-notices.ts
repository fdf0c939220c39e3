import { zstdCompressSync } from 'node:zlib';
import { and, arrayOverlaps, eq, getTableColumns, inArray, lt, or, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import { isRefusedRow } from '@portal/db/database-error';
import type { Tx } from '@portal/db/open';
import { unmatchedTenders } from '@portal/db/schema/tenders/matches';
import { isOfNamedSource, tenderNotices, tenderPayloads, tenders } from '@portal/db/schema/tenders/notices';
import { rssFeeds, tenderSources } from '@portal/db/schema/tenders/sources';
import { newId } from '@portal/domain/ids';
import { fingerprintOf, groupNotices, type FreshNotice } from '@portal/domain/tenders/grouping';
import type { NoticeForm, NoticeRecord } from '@portal/domain/tenders/notice-record';
import { isSettingsSource } from '@portal/domain/tenders/sources';
import type { SystemContext } from '@portal/platform/context';
import { mergeTenders } from './merge-tenders.ts';
import { missesUntilWithdrawn, settleTenders } from './settle-tenders.ts';

/** The outcome of storing notices: how many, and which tenders they changed. */
export interface StoredNotices {
  added: number;
  changed: number;
  unchanged: number;
  /** Older than the stored version, or rejected by the database. */
  refused: number;
  /** New notices of a feed or mailbox above its limit per day. */
  withheld: number;
  /** Tenders that are new or changed and have to be matched. */
  tenderIds: string[];
}

/** Notices written in one transaction. It takes a fraction of a second, so other writers wait little for the lock. */
const batch = 250;
/** Characters of texts and lots in one transaction: a few notices can be as large as all the others together. */
const batchChars = 4_000_000;

/**
 * Stores notices of one source in the order of their versions, and assigns each to its tender, even if another source listed that first.
 * Unchanged notices are not written. Each batch is a transaction, so an interrupted call can be repeated. New and changed tenders are left
 * to the matcher; matches of the first read of a source are dismissed, so no mail reports them.
 */
export async function storeNotices(
  system: SystemContext,
  records: readonly NoticeRecord[],
  { signal, isFirstRead = false }: { signal?: AbortSignal; isFirstRead?: boolean } = {},
): Promise<StoredNotices> {
  const stored: StoredNotices = { added: 0, changed: 0, unchanged: 0, refused: 0, withheld: 0, tenderIds: [] };
  for (const part of batchesOf(records)) {
    signal?.throwIfAborted();
    const done = await storeOrDivide(system, part, isFirstRead);
    for (const outcome of storedOutcomes) stored[outcome] += done[outcome];
    stored.tenderIds.push(...done.tenderIds);
  }
  stored.tenderIds = [...new Set(stored.tenderIds)];
  return stored;
}

export const storedOutcomes = ['added', 'changed', 'unchanged', 'refused', 'withheld'] as const;

/** New notices accepted per feed or mailbox in 24 hours. Without the limit, the operator of a feed could fill the database. */
export const maxNewADay = 1_000;

function* batchesOf(records: readonly NoticeRecord[]): Generator<NoticeRecord[]> {
  let part: NoticeRecord[] = [];
  let chars = 0;
  for (const record of records) {
    const size = record.raw.body.length + sizeOf(record);
    if (part.length === batch || (part.length > 0 && chars + size > batchChars)) {
      yield part;
      part = [];
      chars = 0;
    }
    part.push(record);
    chars += size;
  }
  if (part.length > 0) yield part;
}

const sizeOf = ({ description, lots }: NoticeRecord): number =>
  (description?.length ?? 0) + lots.reduce((sum, lot) => sum + (lot.description?.length ?? 0), 0);

/** Stores a batch. If the database rejects a notice, halves the batch until only that notice is left out. */
async function storeOrDivide(
  system: SystemContext,
  records: NoticeRecord[],
  isFirstRead: boolean,
): Promise<StoredNotices> {
  try {
    return await system.acrossTenants('notices of a source are stored', (tx) => storeBatch(tx, records, isFirstRead));
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    const [first] = records;
    if (records.length === 1 && first) {
      system.log.warn(
        { err: error, source: first.sourcePortal, notice: first.sourceNoticeId },
        'a notice cannot be stored',
      );
      return { added: 0, changed: 0, unchanged: 0, refused: 1, withheld: 0, tenderIds: [] };
    }
    const middle = records.length >> 1;
    const halves = [records.slice(0, middle), records.slice(middle)];
    const sum: StoredNotices = { added: 0, changed: 0, unchanged: 0, refused: 0, withheld: 0, tenderIds: [] };
    for (const half of halves) {
      const done = await storeOrDivide(system, half, isFirstRead);
      for (const outcome of storedOutcomes) sum[outcome] += done[outcome];
      sum.tenderIds.push(...done.tenderIds);
    }
    return sum;
  }
}

async function storeBatch(tx: Tx, records: NoticeRecord[], isFirstRead: boolean): Promise<StoredNotices> {
  const [first] = records;
  const result: StoredNotices = { added: 0, changed: 0, unchanged: 0, refused: 0, withheld: 0, tenderIds: [] };
  if (!first) return result;
  await lockNoticeStore(tx);
  const { sourcePortal } = first;
  const isPublic = await isPublicSource(tx, sourcePortal);
  const known = await knownNotices(tx, sourcePortal, records);
  let remaining = await remainingToday(tx, sourcePortal);

  /** The latest version of each notice in this batch, by key. */
  const written = new Map<string, Fresh>();
  for (const record of records) {
    const before = known.get(record.noticeKey);
    if (before && record.noticeVersion < before.noticeVersion) result.refused += 1;
    else if (before && record.hash === before.hash && (before.isPublic || !isPublic)) result.unchanged += 1;
    else if (!before && remaining <= 0) result.withheld += 1;
    else {
      if (!before) remaining -= 1;
      const { id, tenderId, publishedAt } = before ?? { id: newId(), tenderId: null, publishedAt: null };
      result[before ? 'changed' : 'added'] += 1;
      written.set(record.noticeKey, { record, id, tenderId, publishedAt });
      known.set(record.noticeKey, {
        id,
        tenderId,
        publishedAt,
        hash: record.hash,
        noticeVersion: record.noticeVersion,
        isPublic: isPublic || before?.isPublic === true,
        missedReads: before?.missedReads ?? 0,
      });
    }
  }
  const reappeared = await resetMisses(tx, [...known.values()]);
  const fresh = [...written.values()];
  const placed = await placeNotices(tx, fresh, isPublic);
  await writeNotices(tx, placed, isPublic);
  await writePayloads(tx, fresh);
  const tenderIds = [...new Set([...placed.map(({ tenderId }) => tenderId), ...reappeared])];
  await settleTenders(tx, tenderIds, new Map(fresh.map(({ id, record }) => [id, record])));
  await leaveToMatcher(tx, tenderIds, !isFirstRead);
  return { ...result, tenderIds };
}

/** Queues tenders for matching. Matches of a tender that is queued already are reported if any of its changes is. */
async function leaveToMatcher(tx: Tx, tenderIds: string[], sendsAlerts: boolean): Promise<void> {
  if (tenderIds.length === 0) return;
  await tx
    .insert(unmatchedTenders)
    // Sorted, so that two transactions cannot deadlock.
    .values(tenderIds.toSorted().map((tenderId) => ({ tenderId, sendsAlerts })))
    .onConflictDoUpdate({
      target: unmatchedTenders.tenderId,
      set: { sendsAlerts: sql`${unmatchedTenders.sendsAlerts} or excluded.is_told` },
    });
}

/** Serializes storing: two sources may list the same procurement at the same moment. */
export const lockNoticeStore = (tx: Tx) => tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.tenderStore})`);

/** New notices that a source may still add within 24 hours; sources of the settings have no limit. */
async function remainingToday(tx: Tx, sourceKey: string): Promise<number> {
  if (isSettingsSource(sourceKey)) return Infinity;
  const { rows } = await tx.execute<{ today: number }>(sql`
    select count(*)::int as today from (
      select from ${tenderNotices}
      where source_key = ${sourceKey} and ${isOfNamedSource} and first_seen_at > now() - interval '24 hours'
      limit ${maxNewADay}) fresh`);
  return maxNewADay - (rows[0]?.today ?? 0);
}

/** Whether every account sees the notices of a source. Creates the row of a source of the settings if it is missing. */
async function isPublicSource(tx: Tx, key: string): Promise<boolean> {
  if (isSettingsSource(key)) {
    await tx.insert(tenderSources).values({ key }).onConflictDoNothing();
    return true;
  }
  const [platformFeed] = await tx
    .select({ id: rssFeeds.id })
    .from(rssFeeds)
    .where(and(eq(rssFeeds.sourceKey, key), sql`${rssFeeds.userId} is null`));
  return platformFeed !== undefined;
}

interface Known {
  id: string;
  tenderId: string | null;
  publishedAt: Date | null;
  hash: string;
  noticeVersion: number;
  isPublic: boolean;
  missedReads: number;
}

async function knownNotices(tx: Tx, sourceKey: string, records: NoticeRecord[]): Promise<Map<string, Known>> {
  const keys = [...new Set(records.map(({ noticeKey }) => noticeKey))];
  const rows = await tx
    .select({
      noticeKey: tenderNotices.noticeKey,
      id: tenderNotices.id,
      tenderId: tenderNotices.tenderId,
      publishedAt: tenderNotices.publishedAt,
      hash: tenderNotices.hash,
      noticeVersion: tenderNotices.noticeVersion,
      isPublic: tenderNotices.isPublic,
      missedReads: tenderNotices.missedReads,
    })
    .from(tenderNotices)
    .where(and(eq(tenderNotices.sourceKey, sourceKey), inArray(tenderNotices.noticeKey, keys)));
  return new Map(rows.map(({ noticeKey, ...row }) => [noticeKey, row]));
}

/** Clears the misses of notices that are listed again. Returns the tenders whose notice counted as withdrawn. */
async function resetMisses(tx: Tx, known: Known[]): Promise<string[]> {
  const missed = known.filter(({ missedReads }) => missedReads > 0);
  if (missed.length === 0) return [];
  await tx
    .update(tenderNotices)
    .set({ missedReads: 0 })
    .where(
      inArray(
        tenderNotices.id,
        missed.map(({ id }) => id),
      ),
    );
  return missed.flatMap(({ missedReads, tenderId }) =>
    missedReads >= missesUntilWithdrawn && tenderId !== null ? [tenderId] : [],
  );
}

/** A notice to write; `tenderId` and `publishedAt` are those of its stored version, null for a new notice. */
interface Fresh {
  record: NoticeRecord;
  id: string;
  tenderId: string | null;
  publishedAt: Date | null;
}

type Placed = Fresh & { tenderId: string };

/** Assigns each notice to a tender: its tender so far, the tender of related notices, or a new one. */
async function placeNotices(tx: Tx, notices: Fresh[], isPublic: boolean): Promise<Placed[]> {
  const fresh = notices.map(({ record, tenderId }): FreshNotice => ({ ...keysOf(record), tenderId, isPublic }));
  const groups = groupNotices(fresh, await relatives(tx, fresh));
  const placed: Placed[] = [];
  const added: string[] = [];
  for (const group of groups) {
    const [survivor, ...others] = group.tenderIds;
    const tenderId = survivor ?? newId();
    if (survivor === undefined) added.push(tenderId);
    if (others.length > 0) await mergeTenders(tx, others, tenderId);
    for (const n of group.fresh) {
      const notice = notices[n];
      if (notice) placed.push({ ...notice, tenderId });
    }
  }
  if (added.length > 0)
    await tx.execute(sql`
      insert into ${tenders} (id, only_source) select id, ${isPublic ? null : (fresh[0]?.sourcePortal ?? null)}
      from unnest(${sql.param(added)}::uuid[]) id`);
  return placed;
}

const keysOf = (record: NoticeRecord) => ({
  sourcePortal: record.sourcePortal,
  noticeUuid: record.noticeUuid,
  publicationNumber: record.publicationNumber,
  bundId: record.bundId,
  procedureUuid: record.procedureUuid,
  portalIds: record.portalIds,
  fingerprint: fingerprintOf(record),
  changedNoticeUuid: record.changes?.noticeUuid ?? null,
  changedPublicationNumber: record.changes?.publicationNumber ?? null,
  form: record.form,
});

/** Stored notices that share a key with these. */
async function relatives(tx: Tx, fresh: FreshNotice[]) {
  const all = (read: (notice: FreshNotice) => (string | null)[]) => [
    ...new Set(fresh.flatMap(read).filter((value) => value !== null)),
  ];
  const uuids = all(({ noticeUuid, changedNoticeUuid }) => [noticeUuid, changedNoticeUuid]);
  const numbers = all((notice) => [notice.publicationNumber, notice.changedPublicationNumber]);
  const bundIds = all(({ bundId }) => [bundId]);
  const portalIds = all((notice) => notice.portalIds);
  const fingerprints = all(({ fingerprint }) => [fingerprint]);
  const among = (column: Parameters<typeof inArray>[0], values: string[]) =>
    values.length === 0 ? undefined : sql`${column} = any(${sql.param(values)}::text[])`;
  const shared = or(
    among(tenderNotices.noticeUuid, uuids),
    among(tenderNotices.changedNoticeUuid, uuids),
    among(tenderNotices.publicationNumber, numbers),
    among(tenderNotices.changedPublicationNumber, numbers),
    among(tenderNotices.bundId, bundIds),
    portalIds.length === 0 ? undefined : arrayOverlaps(tenderNotices.portalIds, portalIds),
    among(tenderNotices.fingerprint, fingerprints),
  );
  if (!shared) return [];
  const rows = await tx
    .select({
      tenderId: tenderNotices.tenderId,
      onlySource: tenders.onlySource,
      sourcePortal: tenderNotices.sourceKey,
      noticeUuid: tenderNotices.noticeUuid,
      publicationNumber: tenderNotices.publicationNumber,
      bundId: tenderNotices.bundId,
      procedureUuid: tenderNotices.procedureUuid,
      portalIds: tenderNotices.portalIds,
      fingerprint: tenderNotices.fingerprint,
      changedNoticeUuid: tenderNotices.changedNoticeUuid,
      changedPublicationNumber: tenderNotices.changedPublicationNumber,
      form: tenderNotices.form,
    })
    .from(tenderNotices)
    .innerJoin(tenders, eq(tenders.id, tenderNotices.tenderId))
    .where(shared)
    .limit(maxRelatives);
  return rows.map((row) => ({ ...row, form: row.form as NoticeForm | null }));
}

/** A key shared by more notices does not identify a procurement. */
const maxRelatives = 20_000;

/** The columns written from a record; other statements write the rest. */
const noticeColumns = Object.entries(getTableColumns(tenderNotices))
  .filter(([key]) => !['isPrimary', 'missedReads', 'firstSeenAt', 'changedAt'].includes(key))
  .map(([key, column]) => ({
    key,
    name: key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type: column.getSQLType(),
  }));

/** Sends all rows as one JSON text: `unnest` cannot take rows that contain arrays. */
async function writeNotices(tx: Tx, placed: Placed[], isPublic: boolean): Promise<void> {
  if (placed.length === 0) return;
  const rows = placed.map(({ id, tenderId, publishedAt, record }) => {
    const { raw: _raw, sourcePortal, changes, ...notice } = record;
    return {
      ...notice,
      id,
      tenderId,
      // An entry without a date gets the time when it was first seen.
      publishedAt: record.publishedAt ?? publishedAt,
      sourceKey: sourcePortal,
      isPublic,
      fingerprint: fingerprintOf(record),
      changedNoticeUuid: changes?.noticeUuid ?? null,
      changedPublicationNumber: changes?.publicationNumber ?? null,
    };
  });
  const names = noticeColumns.map(({ name }) => name).join(', ');
  const unchanged = new Set(['id', 'source_key', 'notice_key', 'is_public']);
  const replaced = noticeColumns
    .filter(({ name }) => !unchanged.has(name))
    .map(({ name }) => `${name} = excluded.${name}`);
  await tx.execute(sql`
    insert into ${tenderNotices} (${sql.raw(names)})
    select ${sql.raw(noticeColumns.map(({ key }) => (key === 'publishedAt' ? `coalesce(r."${key}", now())` : `r."${key}"`)).join(', '))}
    from json_to_recordset(${JSON.stringify(rows)}::json) r (${sql.raw(noticeColumns.map(({ key, type }) => `"${key}" ${type}`).join(', '))})
    on conflict (source_key, notice_key) do update set ${sql.raw(replaced.join(', '))},
      is_public = ${tenderNotices}.is_public or excluded.is_public, changed_at = now()`);
}

/** Stores the original of each notice, compressed here: compression in PostgreSQL would cost more than the rest of the row. */
async function writePayloads(tx: Tx, notices: { record: NoticeRecord; id: string }[]): Promise<void> {
  if (notices.length === 0) return;
  const ids = notices.map(({ id }) => id);
  const formats = notices.map(({ record }) => record.raw.format);
  const bodies = notices.map(({ record }) => zstdCompressSync(record.raw.body));
  await tx.execute(sql`
    insert into ${tenderPayloads} (notice_id, format, body)
    select * from unnest(${sql.param(ids)}::uuid[], ${sql.param(formats)}::text[], ${sql.param(bodies)}::bytea[])
    on conflict (notice_id) do update set format = excluded.format, body = excluded.body, stored_at = now()`);
}

/** Ids of the notices of a day that its source no longer lists. `shownKeys` are the keys of the notices it lists. */
export const missingNotices = (
  system: SystemContext,
  { sourcePortal, sourceDay, shownKeys }: { sourcePortal: string; sourceDay: string; shownKeys: string[] },
): Promise<string[]> =>
  system.acrossTenants('missing notices of a source are found', async (tx) => {
    const rows = await tx
      .select({ id: tenderNotices.id })
      .from(tenderNotices)
      .where(
        and(
          eq(tenderNotices.sourceKey, sourcePortal),
          eq(tenderNotices.sourceDay, sourceDay),
          lt(tenderNotices.missedReads, missesUntilWithdrawn),
          sql`${tenderNotices.noticeKey} <> all(${sql.param(shownKeys)}::text[])`,
        ),
      );
    return rows.map(({ id }) => id);
  });

/**
 * Counts a miss for notices that a read did not find. A notice missing twice in a row counts as withdrawn until it is listed again. Returns
 * the number of withdrawn notices.
 */
export async function noteMissingNotices(tx: Tx, ids: string[]): Promise<number> {
  if (ids.length === 0) return 0;
  await lockNoticeStore(tx);
  const missed = await tx
    .update(tenderNotices)
    .set({ missedReads: sql`${tenderNotices.missedReads} + 1` })
    .where(sql`${tenderNotices.id} = any(${sql.param(ids)}::uuid[])`)
    .returning({ tenderId: tenderNotices.tenderId, missedReads: tenderNotices.missedReads });
  const withdrawn = missed.filter(({ missedReads }) => missedReads >= missesUntilWithdrawn);
  await settleTenders(tx, [...new Set(withdrawn.map(({ tenderId }) => tenderId))]);
  return withdrawn.length;
}
