import { and, eq, getTableColumns, inArray, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared, type RowOf } from '@portal/db/prepared';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { afterMiss, type KeptStatus, neverChecked } from '@portal/domain/monitoring/settle';
import { batchCalls } from '@portal/platform/batch-calls';
import type { TenantContext } from '@portal/platform/context';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import { splitStatus, statusColumns } from '../kept-status.ts';
import { serverColumns, type StoredServer } from '../stored-server.ts';
import { type PollState, pollStateOf } from './poll-state.ts';

/** What a run found of a server. */
export interface Finding {
  server: StoredServer;
  status: KeptStatus;
  memory: PollState;
  tookMs: number;
}

/** The rows of a run: several servers share a statement where several begin or end at the same time. */
export interface ServerRows {
  /**
   * An active server with what is known of it, from now on marked as looked at by this run. Undefined for one that was switched off or
   * removed, and for all when another worker has taken over.
   */
  begin(id: string): Promise<StoredPoll | undefined>;
  /**
   * Writes what was found, and says whether it did: nothing is written by a run that another worker has taken over, nor of a server
   * that was changed, switched off or removed since it was asked.
   */
  write(finding: Finding): Promise<boolean>;
  /** Leaves a server alone for an hour, and says why in its status: looks at it ended their processes. */
  rest: (id: string) => Promise<void>;
  /** Takes the marks from servers whose looks were stopped or failed here: no answer of theirs has ended this process. */
  giveBack(): Promise<void>;
}

type StoredPoll = { server: StoredServer; status: KeptStatus | null; memory: unknown };

/** Servers that share a statement. */
const most = 50;
/** Characters of what was found of them, unless it is one alone; usually they have a few thousand each. */
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
      { most },
    ),
    write: batchCalls((findings: Finding[]) => ctx.tx((tx) => writeAll(tx, run, findings)), { most }),
    rest: batchCalls((ids: string[]) => restAll(ctx, run, ids), { most }),
    giveBack: () =>
      ctx.tx(async (tx) => {
        if (!(await holdRun(tx, run))) return;
        await tx
          .update(monitoredServers)
          .set({ pollRunId: null })
          .where(and(eq(monitoredServers.pollRunId, run.id), isPollOpen));
      }),
  };
}

/** A look at the server began and its result was not written. */
export const isPollOpen = sql<boolean>`(${monitoredServers.pollRunId} is not null and not exists (
  select from server_statuses of_look where of_look.id = ${monitoredServers.id} and of_look.run_id = ${monitoredServers.pollRunId}))`;
/** Looks in a row, up to now, that ended their process. A look that was given back, or a rest, leaves the number as it is. */
export const lostPolls = sql<number>`(case when ${isPollOpen} then ${monitoredServers.lostPolls} + 1
  when ${monitoredServers.pollRunId} is null then ${monitoredServers.lostPolls} else 0 end)`;

/** Marks them in the order of their ids, as all who lock several do. */
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
  const { memory, ...server } = others;
  return { server, status, memory };
}

const { id: _, tenantId: __, ...written } = getTableColumns(serverStatuses);
/** Every column takes the value of the row that could not be inserted. */
const asInserted = Object.fromEntries(
  Object.entries(written).map(([name, column]) => [
    name,
    sql.raw(`excluded.${column.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
  ]),
);

/** Writes those whose server is as it was when it was asked. The servers stay as they are until the transaction ends. */
const writeFindings = prepared<{ findings: string }>()('server_statuses_of_a_run', (db) =>
  db
    .insert(serverStatuses)
    .select(
      sql`with found as materialized (
        select * from json_to_recordset(${sql.placeholder('findings')}::json) as found (
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

async function writeAll(tx: Tx, run: RunAtWork, findings: Finding[]): Promise<boolean[]> {
  if (!(await holdRun(tx, run))) return findings.map(() => false);
  const written = new Set<string>();
  for (const found of statementsOf(findings, run))
    for (const { id } of await tx.run(writeFindings, { findings: found })) written.add(id);
  return findings.map(({ server }) => written.has(server.id));
}

const endedItsProcesses = {
  failure: 'antwortform',
  message: 'It twice answered with what ended the check. It is checked again in an hour, or with other settings.',
} as const;

async function restAll(ctx: TenantContext, run: RunAtWork, ids: string[]): Promise<void[]> {
  const rested = await ctx.tx(async (tx) => {
    const findings = (await tx.run(storedPolls, { ids })).flatMap((row): Finding[] => {
      const poll = storedPoll(row);
      if (!poll) return [];
      const status = afterMiss(poll.status ?? neverChecked, endedItsProcesses, new Date());
      return [{ server: poll.server, status, memory: pollStateOf(poll.memory), tookMs: 0 }];
    });
    const written = await writeAll(tx, run, findings);
    const resting = findings.filter((_finding, n) => written[n]).map(({ server }) => server);
    const theirs = inArray(
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
      .where(theirs);
    return resting;
  });
  for (const { id, kind } of rested) {
    ctx.log.warn({ tenantId: ctx.tenantId, serverId: id }, 'looks at a server ended their processes, and it rests');
    ctx.metrics.countPoll(kind, endedItsProcesses.failure);
  }
  return ids.map(() => undefined);
}

/** The findings as the JSON of as many statements as they need. */
function statementsOf(findings: Finding[], run: RunAtWork): string[] {
  const statements: string[][] = [];
  let room = 0;
  for (const { server, status, memory, tookMs } of findings) {
    const { id, revision } = server;
    const row = JSON.stringify({ ...status, id, revision, runId: run.id, memory, tookMs });
    const last = statements.at(-1);
    if (last && row.length <= room) last.push(row);
    else {
      statements.push([row]);
      room = maxLength;
    }
    room -= row.length;
  }
  return statements.map((rows) => `[${rows.join()}]`);
}
