import { sql } from 'drizzle-orm';
import type { Database } from '@portal/db/open';

/** How many connections to this file's database wait for somebody's lock. */
export const waitingForLocks = (database: Database): Promise<number> =>
  database.acrossTenants('a test looks', async (tx) => {
    const { rows } = await tx.execute<{ n: number }>(
      sql`select count(distinct l.pid)::int as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and a.datname = current_database()`,
    );
    return rows[0]?.n ?? 0;
  });
