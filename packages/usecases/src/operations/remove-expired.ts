import { inArray, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { passwordTokens, sessions } from '@portal/db/schema/accounts';
import { auditEntries } from '@portal/db/schema/audit';
import { ldapStagedPeople } from '@portal/db/schema/directory';
import { mails } from '@portal/db/schema/mails';
import { rateWindows, runs } from '@portal/db/schema/operations';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import type { Visit } from '../run/context.ts';

/** Rows per statement: short enough to disturb nobody. */
const batch = 5_000;

interface Retention {
  what: string;
  table: PgTable;
  id: PgColumn;
  isOver: SQL | undefined;
}

/** What is kept for a time only (contract sections 3, 7 and 13), by the database's clock. */
const retentions: Retention[] = [
  {
    what: 'password tokens',
    table: passwordTokens,
    id: passwordTokens.id,
    isOver: sql`${passwordTokens.expiresAt} <= now()`,
  },
  {
    what: 'sessions',
    table: sessions,
    id: sessions.id,
    isOver: or(sql`${sessions.expiresAt} <= now()`, sql`${sessions.revokedAt} is not null`),
  },
  {
    what: 'mails',
    table: mails,
    id: mails.id,
    isOver: sql`${mails.settledAt} <= now() - interval '30 days'`,
  },
  { what: 'runs', table: runs, id: runs.id, isOver: sql`${runs.finishedAt} <= now() - interval '90 days'` },
  {
    what: 'audit entries',
    table: auditEntries,
    id: auditEntries.id,
    isOver: sql`${auditEntries.at} <= now() - interval '400 days'`,
  },
  {
    what: 'done reminders',
    table: reminders,
    id: reminders.id,
    isOver: sql`${reminders.doneAt} <= now() - interval '30 days'`,
  },
  {
    what: 'reminder notices',
    table: snoozedReminders,
    id: snoozedReminders.id,
    isOver: sql`${snoozedReminders.dueAt} <= now() - interval '14 days'`,
  },
  {
    what: 'staged people',
    table: ldapStagedPeople,
    id: ldapStagedPeople.runId,
    isOver: sql`${ldapStagedPeople.stagedAt} <= now() - interval '1 day'`,
  },
  { what: 'rate windows', table: rateWindows, id: rateWindows.key, isOver: sql`${rateWindows.expiresAt} <= now()` },
];

/** Deletes what has been kept long enough, a batch at a time, and says how many rows of what went. */
export async function removeExpiredRows(visit: Visit, signal: AbortSignal): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  for (const { what, table, id, isOver } of retentions) {
    let count = 0;
    let last = batch;
    while (last === batch) {
      signal.throwIfAborted();
      last = await visit.acrossTenants('rows kept long enough go', async (tx) => {
        const { rowCount } = await tx
          .delete(table)
          .where(inArray(id, tx.select({ id }).from(table).where(isOver).limit(batch)));
        return rowCount ?? 0;
      });
      count += last;
    }
    removed[what] = count;
  }
  visit.log.info({ removed }, 'rows kept long enough were removed');
  return removed;
}
