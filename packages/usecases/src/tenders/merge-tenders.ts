import { inArray, or, sql } from 'drizzle-orm';
import { advisoryLocks } from '@portal/db/advisory-locks';
import type { Tx } from '@portal/db/open';
import { tenderChanges, tenderMatches, unmatchedTenders } from '@portal/db/schema/tenders/matches';
import { tenderNotices, tenders } from '@portal/db/schema/tenders/notices';
import { personalTenderSearch, tenderSearch } from '@portal/db/schema/tenders/search';
import { tenderTriage } from '@portal/db/schema/tenders/triage';

/** Merges tenders into the survivor: it takes over their triage, matches and changes, and their ids redirect to it. */
export async function mergeTenders(tx: Tx, others: string[], survivorId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${advisoryLocks.tenderMerges})`);
  await tx
    .update(tenders)
    .set({ mergedInto: survivorId, changedAt: sql`now()` })
    .where(or(inArray(tenders.id, others), inArray(tenders.mergedInto, others)));
  await tx.execute(sql`
    insert into ${tenderTriage} as target (tenant_id, user_id, tender_id, is_read, is_favorite)
    select tenant_id, user_id, ${survivorId}::uuid, bool_or(is_read), bool_or(is_favorite)
    from ${tenderTriage} where tender_id = any(${sql.param(others)}::uuid[]) group by tenant_id, user_id
    on conflict (tenant_id, user_id, tender_id) do update
      set is_read = target.is_read or excluded.is_read, is_favorite = target.is_favorite or excluded.is_favorite`);
  await tx.delete(tenderTriage).where(inArray(tenderTriage.tenderId, others));
  await mergeMatches(tx, others, survivorId);
  await tx
    .update(tenderNotices)
    .set({ tenderId: survivorId, isPrimary: false })
    .where(inArray(tenderNotices.tenderId, others));
  for (const table of [tenderSearch, personalTenderSearch])
    await tx.delete(table).where(inArray(table.tenderId, others));
}

/** Merges the matches of each search into one: a final state wins over an unsent one, `sent` over `dismissed`. */
async function mergeMatches(tx: Tx, others: string[], survivorId: string): Promise<void> {
  await tx.execute(sql`
    insert into ${tenderMatches} as target (tenant_id, search_id, tender_id, kind, reasons, matched_at, alert_id, notified_at, is_told)
    select distinct on (search_id) tenant_id, search_id, ${survivorId}::uuid, kind, reasons, matched_at, alert_id, notified_at, is_told
    from ${tenderMatches} where tender_id = any(${sql.param(others)}::uuid[])
    order by search_id, is_told desc, notified_at nulls last, alert_id nulls last
    on conflict (search_id, tender_id) do update set
      notified_at = coalesce(target.notified_at, excluded.notified_at), is_told = target.is_told or excluded.is_told`);
  await tx.delete(tenderMatches).where(inArray(tenderMatches.tenderId, others));
  await tx.delete(unmatchedTenders).where(inArray(unmatchedTenders.tenderId, others));
  await tx.execute(sql`
    update ${tenderChanges} c set tender_id = ${survivorId}::uuid where c.tender_id = any(${sql.param(others)}::uuid[])
      and not exists (select from ${tenderChanges} target where target.tender_id = ${survivorId}::uuid and target.successor = c.successor)`);
}

/** Blocks merges until the end of the transaction, so that a row about a tender is not written while the tender is merged. */
export const holdMerges = (tx: Tx) =>
  tx.execute(sql`select pg_advisory_xact_lock_shared(${advisoryLocks.tenderMerges})`);
