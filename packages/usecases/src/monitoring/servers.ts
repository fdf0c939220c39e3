import { and, asc, count, eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { prepared, type RowOf } from '@portal/db/prepared';
import { monitoredServers, serverHistory, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { conflict, notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import {
  checkedServer,
  checkSecret,
  isWorse,
  type Server,
  ServerInput,
  serverTarget,
  ServerTestInput,
  type ServerTile,
  worstOf,
} from '@portal/domain/monitoring/servers';
import { type StoredStatus, neverChecked, shownRules, shownVerdict } from '@portal/domain/monitoring/settle';
import type { TenantContext, UserContext } from '@portal/platform/context';
import { lockTenant } from '@portal/platform/lock-tenant';
import { ReadableCaCertificatePem } from '@portal/platform/readable-certificates';
import { forgetInWidgets } from '../dashboards/named-in-widgets.ts';
import { recordAudit } from './audit.ts';
import { planPolls, smallestInterval } from './poll-plan.ts';
import { hasSecretFor, storedSecret, storedServer } from './stored-server.ts';
import { readDocuments, shownStatusColumns } from './stored-status.ts';

/** The input schemas with parsed CA certificates: they refuse text that only looks like PEM. */
export const ReadableServerInput = ServerInput.extend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  ServerInput.meta() ?? {},
);
export const ReadableServerTestInput = ServerTestInput.extend({ caCertificatePem: ReadableCaCertificatePem }).meta(
  ServerTestInput.meta() ?? {},
);

/** Servers of a tenant. */
const maxServers = 500;

/** The tenant's servers with their status, by name. */
export async function listServers(ctx: TenantContext): Promise<Server[]> {
  const rows = await ctx.run(serversByName, {});
  return rows.map(toServer);
}

/** The same list as JSON. Stored documents are copied unparsed, because they make up most of the answer. */
export async function listServersAsJson(ctx: TenantContext): Promise<Buffer> {
  const rows = await ctx.run(serversByName, {});
  return Buffer.from(`[${rows.map(serverJson).join()}]`);
}

async function serverFor(tx: Tx, id: string): Promise<Server> {
  const [row] = await tx.run(serverById, { id });
  if (!row) throw notFound();
  return toServer(row);
}

/** Adds a server and has it polled within a minute. Throws 400 for a form that does not fit its kind, 409 `LIMIT_REACHED`. */
export async function createServer(ctx: UserContext, input: ServerInput): Promise<Server> {
  const form = checkedServer(input);
  checkSecret(form, false);
  return ctx.tx(async (tx) => {
    await lockTenant(tx, ctx.tenantId);
    const [row] = await tx.select({ servers: count() }).from(monitoredServers);
    if ((row?.servers ?? 0) >= maxServers) throw conflict('LIMIT_REACHED');
    const id = newId();
    await tx
      .insert(monitoredServers)
      .values({ id, tenantId: ctx.tenantId, ...form, ...sealedSecrets(ctx, id, form, undefined) });
    await planPolls(tx, ctx.tenantId, { soon: form.isActive });
    await record(tx, ctx, { action: 'servers.create', id, verb: 'Added', form });
    return serverFor(tx, id);
  });
}

/**
 * Replaces a server; a secret that is not given stays. A new address or kind deletes status and history. Throws 404, 400 for a form that does
 * not fit its kind, and 400 `SECRET_REQUIRED` if the stored secret would be sent to another target.
 */
export async function putServer(ctx: UserContext, id: string, input: ServerInput): Promise<Server> {
  const form = checkedServer(input);
  return ctx.tx(async (tx) => {
    const before = await storedServer(tx, id, 'update');
    if (!before) throw notFound();
    checkSecret(form, hasSecretFor(form, before));
    await tx
      .update(monitoredServers)
      .set({
        ...form,
        ...sealedSecrets(ctx, id, form, before),
        revision: sql`${monitoredServers.revision} + 1`,
        pollRunId: null,
        lostPolls: 0,
        restsUntil: null,
        updatedAt: sql`now()`,
      })
      .where(eq(monitoredServers.id, id));
    if (before.kind !== form.kind || before.address !== form.address) {
      await tx.delete(serverStatuses).where(eq(serverStatuses.id, id));
      await tx
        .delete(serverHistory)
        .where(and(eq(serverHistory.tenantId, ctx.tenantId), eq(serverHistory.serverId, id)));
    }
    await planPolls(tx, ctx.tenantId, { soon: form.isActive });
    const moved = before.address === form.address ? '' : `, previously at ${before.address}`;
    await record(tx, ctx, { action: 'servers.update', id, verb: 'Changed', form, moved });
    return serverFor(tx, id);
  });
}

/** Deletes a server with its status and removes it from widgets. Throws 404. */
export async function deleteServer(ctx: UserContext, id: string): Promise<void> {
  await ctx.tx(async (tx) => {
    const [gone] = await tx
      .delete(monitoredServers)
      .where(eq(monitoredServers.id, id))
      .returning({ name: monitoredServers.name, address: monitoredServers.address });
    if (!gone) throw notFound();
    await forgetInWidgets(tx, ctx, 'serverIds', id);
    await planPolls(tx, ctx.tenantId, { soon: false });
    await recordAudit(tx, ctx, {
      action: 'servers.delete',
      tenantId: ctx.tenantId,
      target: { type: 'server', id },
      summary: `Deleted the server ${gone.name} at ${gone.address}.`,
    });
  });
}

/** The data of a tile: the active servers, worst first. */
export async function serverTile(ctx: TenantContext): Promise<ServerTile> {
  const rows = await ctx.run(activeServersByName, {});
  const tiles = rows.map(({ id, name, kind, facts, now, intervalMin, restsUntil, ...stored }) => {
    const { state, failure, message, checkedAt, headline } = verdictOf(stored, {
      isActive: true,
      intervalMin,
      restsUntil,
      now,
    });
    const read: ServerTile['servers'][number]['facts'] = facts === null ? [] : JSON.parse(facts);
    return { id, name, kind, state, failure, message, checkedAt, headline, facts: read };
  });
  const worst = tiles.length === 0 ? 'unknown' : worstOf(tiles.map(({ state }) => state));
  return {
    worst,
    servers: tiles.toSorted((a, b) => Number(isWorse(b.state, a.state)) - Number(isWorse(a.state, b.state))),
  };
}

/** Both secrets in stored form: the sealed secret of the method in use, and null for the other method. */
function sealedSecrets(
  ctx: UserContext,
  id: string,
  form: ServerInput,
  before: Awaited<ReturnType<typeof storedServer>>,
): { tokenSecret: string | null; password: string | null } {
  const sealed = (field: 'tokenSecret' | 'password', isUsed: boolean) =>
    isUsed ? storedSecret(ctx, id, field, before).sealedFor(serverTarget(form), form[field]) : null;
  return {
    tokenSecret: sealed('tokenSecret', form.authMethod === 'token'),
    password: sealed('password', form.authMethod === 'password'),
  };
}

const record = (
  tx: Tx,
  ctx: UserContext,
  {
    action,
    id,
    verb,
    form,
    moved = '',
  }: { action: 'servers.create' | 'servers.update'; id: string; verb: string; form: ServerInput; moved?: string },
) =>
  recordAudit(tx, ctx, {
    action,
    tenantId: ctx.tenantId,
    target: { type: 'server', id },
    summary: `${verb} the server ${form.name} at ${form.address}${moved}, ${form.verifyTls ? '' : 'certificate not checked, '}${
      form.isActive ? 'switched on' : 'switched off'
    }.`,
  });

/** The columns that decide whether a status is stale. */
const stalenessColumns = {
  now: sql<Date>`now()`.mapWith(monitoredServers.createdAt).as('now'),
  intervalMin: smallestInterval.as('interval_min'),
  restsUntil: monitoredServers.restsUntil,
};

const shownColumns = {
  id: monitoredServers.id,
  kind: monitoredServers.kind,
  name: monitoredServers.name,
  address: monitoredServers.address,
  authMethod: monitoredServers.authMethod,
  tokenId: monitoredServers.tokenId,
  hasTokenSecret: sql<boolean>`${monitoredServers.tokenSecret} is not null`.as('has_token_secret'),
  username: monitoredServers.username,
  hasPassword: sql<boolean>`${monitoredServers.password} is not null`.as('has_password'),
  verifyTls: monitoredServers.verifyTls,
  caCertificatePem: monitoredServers.caCertificatePem,
  pollIntervalMin: monitoredServers.pollIntervalMin,
  isActive: monitoredServers.isActive,
  createdAt: monitoredServers.createdAt,
  updatedAt: monitoredServers.updatedAt,
  ...shownStatusColumns,
  ...stalenessColumns,
};

const { rules: _, notExamined: __, changes: ___, ...tileStatusColumns } = shownStatusColumns;
/** Only what a tile shows. Rules, the bulk of a status, are not read. */
const tileColumns = {
  id: monitoredServers.id,
  name: monitoredServers.name,
  kind: monitoredServers.kind,
  ...tileStatusColumns,
  ...stalenessColumns,
};

const statusOfServer = and(
  eq(serverStatuses.tenantId, monitoredServers.tenantId),
  eq(serverStatuses.id, monitoredServers.id),
);

const serversByName = prepared<Record<string, never>>()('servers_by_name', (db) =>
  db
    .select(shownColumns)
    .from(monitoredServers)
    .leftJoin(serverStatuses, statusOfServer)
    .orderBy(asc(sql`lower(${monitoredServers.name})`), asc(monitoredServers.id)),
);

const activeServersByName = prepared<Record<string, never>>()('active_servers_by_name', (db) =>
  db
    .select(tileColumns)
    .from(monitoredServers)
    .leftJoin(serverStatuses, statusOfServer)
    .where(eq(monitoredServers.isActive, true))
    .orderBy(asc(sql`lower(${monitoredServers.name})`), asc(monitoredServers.id)),
);

const serverById = prepared<{ id: string }>()('server_by_id', (db) =>
  db
    .select(shownColumns)
    .from(monitoredServers)
    .leftJoin(serverStatuses, statusOfServer)
    .where(eq(monitoredServers.id, sql.placeholder('id'))),
);

type ServerRow = RowOf<typeof serverById>;

function toServer(row: ServerRow): Server {
  const { server, verdict, documents } = splitRow(row);
  const { facts, rules, notExamined, changes } = documents === null ? neverChecked : readDocuments(documents);
  return { ...server, status: { ...verdict, facts, rules: shownRules(rules), notExamined, changes } };
}

function serverJson(row: ServerRow): string {
  const { server, verdict, documents } = splitRow(row);
  if (documents === null || documents.rules.includes('"pending":')) return JSON.stringify(toServer(row));
  const { facts, rules, notExamined, changes } = documents;
  // Without the two closing braces of the status and the server.
  const begun = JSON.stringify({ ...server, status: verdict }).slice(0, -2);
  return `${begun},"facts":${facts},"rules":${rules},"notExamined":${notExamined},"changes":${changes}}}`;
}

/** The server, its verdict and the stored documents of its status, which are null before the first poll. */
function splitRow(row: ServerRow) {
  const { facts, rules, notExamined, changes, now, intervalMin, restsUntil, ...others } = row;
  const { state, failure, message, checkedAt, lastOkAt, headline, ...server } = others;
  const stored = { state, failure, message, checkedAt, lastOkAt, headline };
  const verdict = verdictOf(stored, { isActive: server.isActive, intervalMin, restsUntil, now });
  const documents = { facts, rules, notExamined, changes } as Parameters<typeof readDocuments>[0];
  return { server, verdict, documents: state === null ? null : documents };
}

/** All columns of a status are null before the first poll. */
const verdictOf = (
  stored: Pick<ServerRow, 'state' | 'failure' | 'message' | 'checkedAt' | 'lastOkAt' | 'headline'>,
  options: Parameters<typeof shownVerdict>[1],
) => shownVerdict(stored.state === null ? neverChecked : (stored as StoredStatus), options);
