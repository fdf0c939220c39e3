import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { prepared, type RowOf } from '@portal/db/prepared';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import type { KeptStatus } from '@portal/domain/monitoring/settle';
import type { TenantContext } from '@portal/platform/context';
import { holdRun, type RunAtWork } from '@portal/platform/runs/state';
import { together } from '@portal/platform/together';
import { apart, statusColumns } from '../kept-status.ts';
import { serverColumns, type StoredServer } from '../stored-server.ts';
import type { Memory } from './memory.ts';

/** What a run found of a server. */
export interface Finding {
  server: StoredServer;
  status: KeptStatus;
  memory: Memory;
  tookMs: number;
}

/** The rows of a run: several servers share a statement where several begin or end at the same time. */
export interface ServerRows {
  /** An active server with what is known of it; undefined for one that was switched off or removed. */
  read(id: string): Promise<StoredLook | undefined>;
  /**
   * Writes what was found, and says whether it did: nothing is written by a run that another worker has taken over, nor of a server
   * that was changed, switched off or removed since it was asked.
   */
  write(finding: Finding): Promise<boolean>;
}

type StoredLook = { server: StoredServer; status: KeptStatus | null; memory: unknown };

/** Servers that share a statement. */
const most = 50;
/** Characters of what was found of them, unless it is one alone; usually they have a few thousand each. */
const mostLength = 4 * 1024 * 1024;

export function openServerRows(ctx: TenantContext, run: RunAtWork): ServerRows {
  return {
    read: together(
      async (ids: string[]) => {
        const rows = await ctx.run(storedLooks, { ids });
        const byId = new Map(rows.map((row) => [row.id, row]));
        return ids.map((id) => storedLook(byId.get(id)));
      },
      { most },
    ),
    write: together((findings: Finding[]) => writeAll(ctx, run, findings), { most }),
  };
}

const storedLooks = prepared<{ ids: string[] }>()('servers_to_look_at', (db) =>
  db
    .select({ ...serverColumns, ...statusColumns, memory: serverStatuses.memory })
    .from(monitoredServers)
    .leftJoin(serverStatuses, eq(serverStatuses.id, monitoredServers.id))
    .where(
      and(sql`${monitoredServers.id} = any(${sql.placeholder('ids')}::uuid[])`, eq(monitoredServers.isActive, true)),
    ),
);

function storedLook(row: RowOf<typeof storedLooks> | undefined): StoredLook | undefined {
  if (!row) return undefined;
  const { status, others } = apart(row);
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

function writeAll(ctx: TenantContext, run: RunAtWork, findings: Finding[]): Promise<boolean[]> {
  return ctx.tx(async (tx) => {
    if (!(await holdRun(tx, run))) return findings.map(() => false);
    const written = new Set<string>();
    for (const found of statementsOf(findings, run))
      for (const { id } of await tx.run(writeFindings, { findings: found })) written.add(id);
    return findings.map(({ server }) => written.has(server.id));
  });
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
      room = mostLength;
    }
    room -= row.length;
  }
  return statements.map((rows) => `[${rows.join()}]`);
}
