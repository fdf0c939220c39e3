import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { ServerTestInput } from '@portal/domain/monitoring/servers';
import { waitForRun } from '@portal/platform/runs/wait';
import { passwordForm, pollNow, serverForm } from '@portal/testing/monitoring';
import { testRuntime } from '@portal/testing/runtime';
import { startBackupServer } from '@portal/testing/servers/products/backup-server';
import { startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { startVirtualizationServer } from '@portal/testing/servers/products/virtualization-server';
import { startTestWorker } from '@portal/testing/worker';
import { getRun } from '../operations/get-run.ts';
import { monitoring } from './area.ts';
import { monitoringHandlers } from './handlers.ts';
import { createServer, listServers, putServer, serverTile } from './servers.ts';
import { startPoll } from './start-poll.ts';
import { testServer, testStoredServer } from './test-server.ts';

const { url, ownerUrl, make, signedIn } = await testRuntime();
const dataDir = await mkdtemp(join(tmpdir(), 'portal-test-secrets-'));
afterAll(() => rm(dataDir, { recursive: true, force: true }));
const products = await Promise.all([
  startVirtualizationServer(),
  startBackupServer(),
  startMailGatewayServer(),
  startBackupServer(),
]);
afterAll(() => Promise.all(products.map((product) => product.switchOff())));

/** Repeats the secrets in every place a server can: a name, an error as JSON, an error as text, the status text. */
function echoSecrets(product: ProductServer): void {
  let asked = 0;
  product.intercept = (path, { headers }, response) => {
    if (path === '/version' || path === '/access/ticket') return false;
    const sent = headers.cookie ? `${headers.cookie} ${product.accounts.password}` : (headers.authorization ?? '');
    const plain = `${sent} ${decodeURIComponent(sent)}`;
    const ways = [
      () => {
        const row = { id: plain, type: 'node', node: plain, name: plain, store: plain, error: plain, status: 'online' };
        response.writeHead(200).end(JSON.stringify({ data: [{ ...row, total: 10, used: 9 }] }));
      },
      () => response.writeHead(500).end(JSON.stringify({ message: plain })),
      () => response.writeHead(400).end(plain),
      () => response.writeHead(596, plain).end(),
    ];
    ways[asked++ % ways.length]?.();
    return true;
  };
}

/** The content of the whole database, including the tables of the queue. */
async function wholeDatabase(): Promise<string> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string | null }>(
        `select string_agg(t::text, '\n') as text from ${name} t`,
      );
      texts.push(`${name}: ${rows[0]?.text}`);
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

async function allFiles(): Promise<string> {
  const names = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = names.filter((name) => name.isFile()).map((name) => join(name.parentPath, name.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

it('no secret, ticket or token leaks, even if servers repeat them', { timeout: 60_000 }, async () => {
  const worker = startTestWorker(
    url,
    { handlers: monitoringHandlers, concurrency: monitoring.concurrency ?? {} },
    { env: { DATA_DIR: dataDir } },
  );
  try {
    const signed = await signedIn(await make.user({ role: 'ADMIN' }));
    const { enqueue, log, metrics } = worker.runtime.system({ requestId: 'r', ip: null, userAgent: null });
    const ctx = { ...signed, enqueue, log, metrics };
    const answers: unknown[] = [];
    for (const [n, product] of products.entries()) {
      echoSecrets(product);
      const form = n === 3 ? passwordForm(product) : serverForm(product);
      answers.push(await testServer(ctx, ServerTestInput.parse(form)));
      const { id } = await createServer(ctx, form);
      answers.push(await testStoredServer(ctx, id), await putServer(ctx, id, { ...form, name: 'other' }));
    }
    const { runId } = await startPoll(ctx);
    expect(await waitForRun(ctx, runId, 25)).toBe(true);
    for (let n = 0; n < 3; n += 1) await pollNow(ctx);
    answers.push(await listServers(ctx), await serverTile(ctx), await getRun(ctx, runId));
    const places = {
      answers: JSON.stringify(answers),
      database: await wholeDatabase(),
      files: await allFiles(),
      log: JSON.stringify(worker.lines),
      metrics: (await worker.runtime.metrics.render()).body,
    };
    const tickets = products.flatMap(({ calls }) => calls.flatMap(({ cookie }) => cookie?.split('=', 2)[1] ?? []));
    expect(tickets.length).toBeGreaterThan(5);
    const secrets = new Set([
      ...products.flatMap(({ accounts: { token, password } }) => [token.secret, password]),
      ...tickets.flatMap((ticket) => [ticket, decodeURIComponent(ticket)]),
    ]);
    for (const [place, text] of Object.entries(places))
      for (const secret of secrets) expect(text.includes(secret), `${secret} in ${place}`).toBe(false);
    // The servers did answer, and the database includes the queue.
    expect(places.answers).toContain('[secret]');
    expect(places.database).toContain('[secret]');
    expect(places.database).toContain('monitoring.poll');
  } finally {
    await worker.stop();
  }
});
