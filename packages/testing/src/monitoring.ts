import { monitoredServers } from '@portal/db/schema/monitoring/servers';
import { newId } from '@portal/domain/ids';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import { ServerInput, serverTarget } from '@portal/domain/monitoring/servers';
import type { TenantContext, UserContext } from '@portal/platform/context';
import { addRun } from '@portal/platform/runs/start';
import { beginRun, endRun } from '@portal/platform/runs/state';
import { pollServers } from '@portal/usecases/monitoring/jobs';
import { pollTenantServers } from '@portal/usecases/monitoring/run/poll-tenant-servers';
import { createServer, listServers } from '@portal/usecases/monitoring/servers';
import { storedSecret } from '@portal/usecases/monitoring/stored-server';
import type { ProductServer } from './servers/products/product-server.ts';
import { caCertificatePem } from './servers/tls.ts';

/** A form that reaches a stand-in, with a token if the product supports tokens. */
export const serverForm = (server: ProductServer, more: Record<string, unknown> = {}): ServerInput => {
  const { token, username, password } = server.accounts;
  const login =
    server.kind === 'mail-gateway'
      ? { authMethod: 'password', username, password }
      : { authMethod: 'token', tokenId: token.id, tokenSecret: token.secret };
  return ServerInput.parse({
    kind: server.kind,
    name: server.kind,
    address: server.address,
    caCertificatePem,
    ...login,
    ...more,
  });
};

/** A form that reaches a stand-in, with name and password. */
export const passwordForm = (server: ProductServer, more: Record<string, unknown> = {}): ServerInput => {
  const { username, password } = server.accounts;
  return serverForm(server, { authMethod: 'password', username, password, tokenId: null, tokenSecret: null, ...more });
};

export const addServer = async (ctx: UserContext, server: ProductServer, more: Record<string, unknown> = {}) =>
  (await createServer(ctx, serverForm(server, more))).id;

/** Inserts many servers at once, with the same rows that the product writes one by one. */
export async function addServers(ctx: TenantContext, forms: readonly ServerInput[]): Promise<string[]> {
  const { tenantId } = ctx;
  const rows = forms.map((form) => {
    const id = newId();
    const sealed = (field: 'tokenSecret' | 'password') =>
      form[field] ? storedSecret(ctx, id, field, undefined).sealedFor(serverTarget(form), form[field]) : null;
    return { id, tenantId, ...form, tokenSecret: sealed('tokenSecret'), password: sealed('password') };
  });
  for (let n = 0; n < rows.length; n += 500)
    await ctx.tx((tx) => tx.insert(monitoredServers).values(rows.slice(n, n + 500)));
  return rows.map(({ id }) => id);
}

/** A form with an address that nothing listens on. */
export const deadForm = (kind: ServerKind = 'backup'): ServerInput =>
  ServerInput.parse({
    kind,
    name: 'dead',
    address: 'https://127.0.0.1:1',
    authMethod: 'password',
    username: 'a@pam',
    password: 'b c d e',
  });

/** Performs one run as the worker does. */
export async function pollNow(ctx: TenantContext, options: { maxWaitMs?: number } = {}): Promise<void> {
  const id = await ctx.tx((tx) => addRun(tx, pollServers, { tenantId: ctx.tenantId }, { startedBy: null }));
  const run = await beginRun(ctx, id);
  if (!run) throw new Error('the run did not begin');
  await pollTenantServers(
    ctx,
    { run, signal: new AbortController().signal, actorId: null, progress: () => undefined },
    options,
  );
  await endRun(ctx, run, { error: null });
}

/** The status of a server after `runs` runs. */
export async function statusAfter(ctx: UserContext, id: string, runs = 1) {
  for (let n = 0; n < runs; n += 1) await pollNow(ctx);
  const server = (await listServers(ctx)).find((one) => one.id === id);
  if (!server) throw new Error('there is no such server');
  return server.status;
}
