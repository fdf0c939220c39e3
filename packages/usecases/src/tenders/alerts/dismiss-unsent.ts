import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { tenderChangeNotices, tenderMatches } from '@portal/db/schema/tenders/matches';

const batch = 5_000;

/** Has matches and changes that mails owe count as told, so that no digest and no alert brings them. */
export async function dismissUnsent(tx: Tx): Promise<number> {
  const counts = [];
  for (const table of [tenderMatches, tenderChangeNotices])
    // Apart, as the indexes have them.
    for (const isPromised of [sql`is null`, sql`is not null`]) {
      const owed = tx
        .select({ row: sql`${table}.ctid` })
        .from(table)
        .where(sql`${table.notifiedAt} is null and ${table.alertId} ${isPromised}`)
        .limit(batch);
      const { rowCount } = await tx
        .update(table)
        .set({ notifiedAt: sql`now()` })
        .where(sql`${table}.ctid = any(array(${owed}))`);
      counts.push(rowCount ?? 0);
    }
  return counts.reduce((sum, count) => sum + count, 0);
}
