import { inArray, or, sql, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import { emailTokens, passwordTokens, sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { ldapStagedEntries } from '@portal/db/schema/directory';
import { removeExpiredAuditEntries } from '@portal/db/schema/platform/audit';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { rateWindows, runs } from '@portal/db/schema/platform/operations';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import type { Visit } from './context.ts';

/** Rows per statement: short enough to disturb nobody. */
const batch = 5_000;

interface OldRows {
  what: string;
  table: PgTable;
  id: PgColumn;
  isOver: SQL | undefined;
  /** What is emptied in a row that itself stays. */
  emptied?: Record<string, null>;
}

type Retention = OldRows | { what: string; remove: (tx: Tx) => Promise<number> };

/** What is kept for a time only (contract sections 3, 7 and 13), by the database's clock. */
const retentions: Retention[] = [
  {
    what: 'password tokens',
    table: passwordTokens,
    id: passwordTokens.id,
    isOver: sql`${passwordTokens.expiresAt} <= now()`,
  },
  {
    what: 'email tokens',
    table: emailTokens,
    id: emailTokens.id,
    isOver: sql`${emailTokens.expiresAt} <= now()`,
  },
  {
    what: 'pending addresses',
    table: users,
    id: users.id,
    isOver: sql`${users.pendingEmailUntil} <= now()`,
    emptied: { pendingEmail: null, pendingEmailUntil: null },
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
  {
    what: 'mail days',
    table: mailDays,
    id: mailDays.id,
    isOver: sql`${mailDays.day} <= (now() - interval '30 days')::date`,
  },
  { what: 'runs', table: runs, id: runs.id, isOver: sql`${runs.finishedAt} <= now() - interval '90 days'` },
  {
    what: 'audit entries',
    remove: async (tx) => Number((await tx.execute<{ removed: number }>(removeExpiredAuditEntries)).rows[0]?.removed),
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
    what: 'staged entries',
    table: ldapStagedEntries,
    id: ldapStagedEntries.runId,
    isOver: sql`${ldapStagedEntries.stagedAt} <= now() - interval '1 day'`,
  },
  { what: 'rate windows', table: rateWindows, id: rateWindows.key, isOver: sql`${rateWindows.expiresAt} <= now()` },
];

/** Deletes what has been kept long enough, a batch at a time, and says how many rows of what went. */
export async function removeExpiredRows(visit: Visit, signal: AbortSignal): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  for (const retention of retentions) {
    const remove = 'remove' in retention ? retention.remove : (tx: Tx) => removeBatch(tx, retention);
    let count = 0;
    let last: number;
    do {
      signal.throwIfAborted();
      last = await visit.acrossTenants('rows kept long enough go', remove);
      count += last;
    } while (last > 0);
    removed[retention.what] = count;
  }
  visit.log.info({ removed }, 'rows kept long enough were removed');
  return removed;
}

async function removeBatch(tx: Tx, { table, id, isOver, emptied }: OldRows): Promise<number> {
  const due = inArray(id, tx.select({ id }).from(table).where(isOver).limit(batch));
  const { rowCount } = await (emptied ? tx.update(table).set(emptied).where(due) : tx.delete(table).where(due));
  return rowCount ?? 0;
}
