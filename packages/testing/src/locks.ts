import { sql } from 'drizzle-orm';
import type { Database } from '@portal/db/open';

/** Number of connections to this file's database that wait for a lock. */
export const waitingForLocks = (database: Database): Promise<number> =>
  database.acrossTenants('a test counts waiting connections', async (tx) => {
    const { rows } = await tx.execute<{ n: number }>(
      sql`select count(distinct l.pid)::int as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and a.datname = current_database()`,
    );
    return rows[0]?.n ?? 0;
  });
