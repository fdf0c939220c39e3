import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared, type RowOf } from '@portal/db/prepared';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import type { Figures } from '@portal/domain/monitoring/history';
import { afterMiss, type StoredStatus, neverChecked } from '@portal/domain/monitoring/settle';
import { batchCalls } from '@portal/platform/batch-calls';
import type { TenantContext } from '@portal/platform/context';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import { addToHistory } from '../history.ts';
import { serverColumns, type StoredServer } from '../stored-server.ts';
import { splitStatus, statusColumns } from '../stored-status.ts';
import { type PollState, pollStateOf } from './poll-state.ts';

/** The result of one poll. */
export interface PollResult {
  server: StoredServer;
  status: StoredStatus;
  pollState: PollState;
  figures: Figures;
  tookMs: number;
}

/** The rows of a run. Polls that begin or end at the same time share a statement. */
export interface ServerRows {
  /**
   * Marks an active server as polled by this run and returns it with its status. Undefined if the server was switched off or removed,
   * or if another worker has taken over the run.
   */
  begin(id: string): Promise<StoredPoll | undefined>;
  /**
   * Stores a result and says whether it did. It does not if another worker has taken over the run, or if the server was changed,
   * switched off or removed since the poll began.
   */
  write(result: PollResult): Promise<boolean>;
  /** Lets a server rest for an hour, because its polls ended their processes. Its status says so. */
  rest: (id: string) => Promise<void>;
  /** Unmarks servers whose polls were stopped or failed in this process: their answers did not end it. */
  releaseUnfinished(): Promise<void>;
}

type StoredPoll = { server: StoredServer; status: StoredStatus | null; pollState: unknown };

/** Servers per statement. */
const maxItems = 50;
/** Under load, a transaction for each poll would cost as much as the poll. A single poll does not wait. */
const everyMs = 100;
/** Characters of results per statement, unless a single result is longer. A result usually has a few thousand. */
const maxLength = 4 * 1024 * 1024;

export function openServerRows(ctx: TenantContext, run: RunAtWork): ServerRows {
  return {
    begin: batchCalls(
      (ids: string[]) =>
        ctx.tx(async (tx) => {
          if (!(await holdRun(tx, run))) return ids.map(() => undefined);
          await tx.run(beginPolls, { ids, runId: run.id });
          const rows = await tx.run(storedPolls, { ids });
          const byId = new Map(rows.map((row) => [row.id, row]));
          return ids.map((id) => storedPoll(byId.get(id)));
        }),
      { maxItems, everyMs },
    ),
    write: batchCalls((results: PollResult[]) => ctx.tx((tx) => writeAll(tx, run, results)), { maxItems, everyMs }),
    rest: batchCalls((ids: string[]) => restAll(ctx, run, ids), { maxItems }),
    releaseUnfinished: () =>
      ctx.tx(async (tx) => {
        if (!(await holdRun(tx, run))) return;
        await tx
          .update(monitoredServers)
          .set({ pollRunId: null })
          .where(and(eq(monitoredServers.pollRunId, run.id), isPollOpen));
      }),
  };
}

/** A poll of the server began and its result was not stored. */
export const isPollOpen = sql<boolean>`(${monitoredServers.pollRunId} is not null and not exists (
  select from server_statuses of_poll where of_poll.id = ${monitoredServers.id} and of_poll.run_id = ${monitoredServers.pollRunId}))`;
/**
 * Polls in a row that ended their process. A released poll, or a rest, does not change the number. The first one does not show in the
 * status, because it marks every server that was being polled in that process: a power failure would put a change that never happened
 * into the history of each.
 */
export const lostPolls = sql<number>`(case when ${isPollOpen} then ${monitoredServers.lostPolls} + 1
  when ${monitoredServers.pollRunId} is null then ${monitoredServers.lostPolls} else 0 end)`;

/** Locks the servers in the order of their ids, like every transaction that locks several. */
const beginPolls = prepared<{ ids: string[]; runId: string }>()('looks_of_a_run', (db) =>
  db
    .update(monitoredServers)
    .set({ lostPolls, pollRunId: sql`${sql.placeholder('runId')}::uuid` })
    .where(
      sql`${monitoredServers.id} in (select id from monitored_servers
        where id = any(${sql.placeholder('ids')}::uuid[]) and is_active order by id for no key update)`,
    )
    .returning({ id: monitoredServers.id }),
);

const storedPolls = prepared<{ ids: string[] }>()('servers_to_look_at', (db) =>
  db
    .select({ ...serverColumns, ...statusColumns, memory: serverStatuses.memory })
    .from(monitoredServers)
    .leftJoin(serverStatuses, eq(serverStatuses.id, monitoredServers.id))
    .where(
      and(sql`${monitoredServers.id} = any(${sql.placeholder('ids')}::uuid[])`, eq(monitoredServers.isActive, true)),
    ),
);

function storedPoll(row: RowOf<typeof storedPolls> | undefined): StoredPoll | undefined {
  if (!row) return undefined;
  const { status, others } = splitStatus(row);
  const { memory: pollState, ...server } = others;
  return { server, status, pollState };
}

const { id: _, tenantId: __, ...written } = getTableColumns(serverStatuses);
/** On conflict, every column takes the value of the new row. */
const asInserted = Object.fromEntries(
  Object.entries(written).map(([name, column]) => [
    name,
    sql.raw(`excluded.${column.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
  ]),
);

/** Stores the results of servers that have not changed since their poll began. Locks these servers until the transaction ends. */
const writeResults = prepared<{ results: string }>()('server_statuses_of_a_run', (db) =>
  db
    .insert(serverStatuses)
    .select(
      sql`with found as materialized (
        select * from json_to_recordset(${sql.placeholder('results')}::json) as found (
          id uuid, revision integer, "runId" uuid, state server_state, failure server_failure, message text,
          "lastOkAt" timestamptz, headline text, facts text, rules text, "notExamined" text, changes text,
          missed integer, "tookMs" integer, memory jsonb)
      ), unchanged as materialized (
        select s.id, s.tenant_id from monitored_servers s join found on found.id = s.id and found.revision = s.revision
        where s.is_active order by s.id for share of s
      )
      select id, unchanged.tenant_id, "runId", state, failure, message, now(), "lastOkAt", headline, facts, rules, "notExamined", changes,
        missed, "tookMs", memory
      from found join unchanged using (id)`,
    )
    .onConflictDoUpdate({ target: serverStatuses.id, set: asInserted })
    .returning({ id: serverStatuses.id }),
);

async function writeAll(tx: Tx, run: RunAtWork, results: PollResult[]): Promise<boolean[]> {
  if (!(await holdRun(tx, run))) return results.map(() => false);
  const written = new Set<string>();
  for (const batch of batchesOf(results, run))
    for (const { id } of await tx.run(writeResults, { results: batch })) written.add(id);
  await addToHistory(
    tx,
    results
      .filter(({ server }) => written.has(server.id))
      .map(({ server, status, figures }) => ({
        id: server.id,
        state: status.state,
        failure: status.failure,
        figures,
      })),
  );
  return results.map(({ server }) => written.has(server.id));
}

const processesEnded = {
  failure: 'antwortform',
  message: 'Its answers ended the check twice. It is checked again in an hour, or as soon as its settings change.',
} as const;

async function restAll(ctx: TenantContext, run: RunAtWork, ids: string[]): Promise<void[]> {
  const rested = await ctx.tx(async (tx) => {
    const results = (await tx.run(storedPolls, { ids })).flatMap((row): PollResult[] => {
      const poll = storedPoll(row);
      if (!poll) return [];
      const status = afterMiss(poll.status ?? neverChecked, processesEnded, new Date());
      return [{ server: poll.server, status, pollState: pollStateOf(poll.pollState), figures: {}, tookMs: 0 }];
    });
    const written = await writeAll(tx, run, results);
    const resting = results.filter((_result, n) => written[n]).map(({ server }) => server);
    const isResting = inArray(
      monitoredServers.id,
      resting.map(({ id }) => id),
    );
    await tx
      .update(monitoredServers)
      .set({
        pollRunId: null,
        lostPolls: sql`${monitoredServers.lostPolls} + 1`,
        restsUntil: sql`now() + interval '1 hour'`,
      })
      .where(isResting);
    return resting;
  });
  for (const { id, kind } of rested) {
    ctx.log.warn(
      { tenantId: ctx.tenantId, serverId: id },
      'polls of a server ended their processes; it rests for an hour',
    );
    ctx.metrics.countPoll(kind, processesEnded.failure);
  }
  return ids.map(() => undefined);
}

/** The results as JSON, one text per statement. */
function batchesOf(results: PollResult[], run: RunAtWork): string[] {
  const batches: string[][] = [];
  let remaining = 0;
  for (const { server, status, pollState, tookMs } of results) {
    const { id, revision } = server;
    const row = JSON.stringify({ ...status, id, revision, runId: run.id, memory: pollState, tookMs });
    const last = batches.at(-1);
    if (last && row.length <= remaining) last.push(row);
    else {
      batches.push([row]);
      remaining = maxLength;
    }
    remaining -= row.length;
  }
  return batches.map((rows) => `[${rows.join()}]`);
}
