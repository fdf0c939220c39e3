import { and, asc, desc, eq, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { monitoredServers, serverHistory } from '@portal/db/schema/monitoring/servers';
import { notFound } from '@portal/domain/errors';
import type { FailureClass } from '@portal/domain/failure-class';
import {
  type Figures,
  historyOf,
  type HistoryQuery,
  historyWindow,
  type ServerHistory,
  storedFigures,
} from '@portal/domain/monitoring/history';
import type { ServerState } from '@portal/domain/monitoring/servers';
import type { TenantContext } from '@portal/platform/context';

/** What the history keeps of one check. */
export interface PastCheck {
  id: string;
  /** Now if missing. */
  at?: Date;
  state: ServerState;
  failure: FailureClass | null;
  figures: Figures;
}

/**
 * Adds checks to the history of their servers: one row for each server and five minutes, which keeps the worst check of that time, and
 * the last one of equally bad checks. `checks` names a server at most once for each five minutes.
 */
export async function addToHistory(tx: Tx, checks: readonly PastCheck[]): Promise<void> {
  if (checks.length === 0) return;
  const rows = checks.map(({ figures, ...check }) => ({ ...check, ...storedFigures(figures) }));
  await tx.run(historyRows, { checks: JSON.stringify(rows) });
}

/** How a server fared within a window. Throws 404 for an unknown server and 400 for a window that is empty or too long. */
export async function readServerHistory(ctx: TenantContext, id: string, query: HistoryQuery): Promise<ServerHistory> {
  const window = historyWindow(query);
  const { from, to, stepSec } = window;
  const rows = await ctx.run(historySteps, { id, from: from.toISOString(), to: to.toISOString(), stepSec });
  if (rows.length === 0) throw notFound();
  // A server without a check in the window has one row without a time.
  const steps = rows.flatMap((row) =>
    row.at === null || row.state === null ? [] : [{ ...row, at: row.at, state: row.state }],
  );
  return historyOf(window, steps);
}

const { state, failure, cpu, memory, fullest, guests, waiting } = serverHistory;

const historyRows = prepared<{ checks: string }>()('server_history_of_a_run', (db) =>
  db
    .insert(serverHistory)
    .select(
      sql`select s.tenant_id, s.id, date_bin('5 minutes', coalesce(past.at, now()), 'epoch'), past.state, past.failure,
          past.cpu, past.memory, past.fullest, past.guests, past.waiting
        from json_to_recordset(${sql.placeholder('checks')}::json) as past (id uuid, at timestamptz, state server_state,
          failure server_failure, cpu real, memory real, fullest real, guests integer, waiting integer)
        join monitored_servers s on s.id = past.id order by s.id, 3`,
    )
    .onConflictDoUpdate({
      target: [serverHistory.tenantId, serverHistory.serverId, serverHistory.at],
      set: {
        state: sql`excluded.state`,
        failure: sql`excluded.failure`,
        cpu: sql`excluded.cpu`,
        memory: sql`excluded.memory`,
        fullest: sql`excluded.fullest`,
        guests: sql`excluded.guests`,
        waiting: sql`excluded.waiting`,
      },
      setWhere: sql`excluded.state >= ${state}`,
    })
    .returning({ id: serverHistory.serverId }),
);

const mean = (column: AnyPgColumn) => sql<number | null>`round(avg(${column})::numeric, 1)::float8`;
const highest = (column: AnyPgColumn) => sql<number | null>`max(${column})`;

const step =
  sql<Date | null>`date_bin(make_interval(secs => ${sql.placeholder('stepSec')}), ${serverHistory.at}, 'epoch')`
    .mapWith(serverHistory.at)
    .as('step');

/** The steps of a window. The primary key finds their rows, 8,928 at most. */
const historySteps = prepared<{ id: string; from: string; to: string; stepSec: number }>()('server_history', (db) =>
  db
    .select({
      at: step,
      state: sql<ServerState | null>`max(${state})`,
      failure: sql<FailureClass | null>`(array_agg(${failure} order by ${desc(state)}, ${desc(serverHistory.at)}))[1]`,
      average: {
        cpu: mean(cpu),
        memory: mean(memory),
        fullest: mean(fullest),
        guests: mean(guests),
        waiting: mean(waiting),
      },
      highest: {
        cpu: highest(cpu),
        memory: highest(memory),
        fullest: highest(fullest),
        guests: highest(guests),
        waiting: highest(waiting),
      },
    })
    .from(monitoredServers)
    .leftJoin(
      serverHistory,
      and(
        eq(serverHistory.tenantId, monitoredServers.tenantId),
        eq(serverHistory.serverId, monitoredServers.id),
        sql`${serverHistory.at} >= ${sql.placeholder('from')}::timestamptz`,
        sql`${serverHistory.at} < ${sql.placeholder('to')}::timestamptz`,
      ),
    )
    .where(eq(monitoredServers.id, sql.placeholder('id')))
    .groupBy(sql`step`)
    .orderBy(asc(sql`step`)),
);
