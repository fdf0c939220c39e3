// 2,000 servers of four tenants, 100 at a time, that take 200 ms each, against 4.0 s and the same calls sent bare; the list of them
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import autocannon from 'autocannon';
import { Client } from 'pg';
import { monitoredServers } from '@portal/db/schema/monitoring/servers';
import { newId } from '@portal/domain/ids';
import { serverTarget } from '@portal/domain/monitoring/servers';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { pollNow, serverForm } from '@portal/testing/monitoring';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { caCertificatePem } from '@portal/testing/servers/tls';
import { the } from '@portal/testing/the';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { storedSecret } from '@portal/usecases/monitoring/stored-server';
import { alternate, benchDatabase, benchSettings, median, report, startServer, stopAll } from './measure.ts';

const total = Number(process.argv[2] ?? 2_000);
const tenantCount = 4;
const atOnce = 100;
const rounds = 2;

type Product = Pick<ProductServer, 'kind' | 'address' | 'accounts'>;

/** What a run in the middle of a day asks of each product, in the order of `product-servers.ts`. */
const paths = [
  [
    '/version',
    '/cluster/resources',
    '/cluster/status',
    '/cluster/tasks',
    '/cluster/backup',
    '/cluster/backup-info/not-backed-up',
    '/cluster/ha/status/current',
  ],
  [
    '/version',
    '/status/datastore-usage',
    '/admin/datastore',
    '/nodes/localhost/status',
    '/admin/gc',
    '/admin/verify',
    '/admin/sync?sync-direction=all',
    '/admin/prune',
    '/nodes/localhost/tasks?since=1&errors=1&limit=100',
  ],
  [
    '/version',
    '/nodes',
    '/nodes/pmg1/status',
    '/config/cluster/status?list_single_node=1',
    '/statistics/mail',
    '/quarantine/spamstatus',
    '/quarantine/virusstatus',
    '/nodes/pmg1/postfix/qshape?queue=deferred',
    '/nodes/pmg1/postfix/qshape?queue=active',
    '/nodes/pmg1/services',
    '/nodes/pmg1/clamav/database',
  ],
];

const fakes = fork(join(import.meta.dirname, 'product-servers.ts'));
try {
  const [products] = (await once(fakes, 'message')) as [Product[]];
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const runtime = openRuntime(readConfig(settings), { process: 'worker', log: openLog('silent', 'worker') });
  const make = builders(runtime.database);
  const origin = { requestId: 'bench', ip: null, userAgent: null };

  /** Rows as the API writes them, without asking it two thousand times. */
  async function addServers(tenantId: string, count: number): Promise<void> {
    const ctx = runtime.tenant(origin, tenantId);
    const rows = Array.from({ length: count }, (_, n) => {
      const id = newId();
      const product = products[n % products.length] as ProductServer;
      const form = serverForm(product, { name: `server ${n}` });
      const sealed = (field: 'tokenSecret' | 'password') =>
        form[field] ? storedSecret(ctx, id, field, undefined).sealedFor(serverTarget(form), form[field]) : null;
      return { id, tenantId, ...form, tokenSecret: sealed('tokenSecret'), password: sealed('password') };
    });
    for (let n = 0; n < rows.length; n += 500)
      await ctx.tx((tx) => tx.insert(monitoredServers).values(rows.slice(n, n + 500)));
  }

  const tenants = await Promise.all(
    Array.from({ length: tenantCount }, async () => {
      const { id } = await make.tenant();
      await addServers(id, total / tenantCount);
      return runtime.tenant(origin, id);
    }),
  );
  const sweep = async (): Promise<number> => {
    const startedAt = performance.now();
    await Promise.all(tenants.map((ctx) => pollNow(ctx)));
    return (performance.now() - startedAt) / 1_000;
  };

  /** The same calls by Node’s own client, over one connection a server, and nothing done with the answers but to read them. */
  const bare = async (): Promise<number> => {
    const startedAt = performance.now();
    let next = 0;
    const one = async (): Promise<void> => {
      for (let n = next++; n < total; n = next++) {
        const product = the(products[n % products.length]);
        const { token, username, password } = product.accounts;
        const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: caCertificatePem });
        const separator = product.kind === 'virtualization' ? '=' : ':';
        const prefix = product.kind === 'virtualization' ? 'PVEAPIToken' : 'PBSAPIToken';
        const headers =
          product.kind === 'mail-gateway'
            ? { cookie: await cookieFor(product, username, password) }
            : { authorization: `${prefix}=${token.id}${separator}${token.secret}` };
        for (const path of paths[products.indexOf(product)] ?? [])
          JSON.parse(await bareCall(product, path, { agent, headers }));
        agent.destroy();
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return (performance.now() - startedAt) / 1_000;
  };
  let cookie: Promise<string> | null = null;
  const cookieFor = (product: Product, username: string, password: string): Promise<string> =>
    (cookie ??= bareCall(product, '/access/ticket', {
      method: 'POST',
      body: new URLSearchParams({ username, password }).toString(),
    }).then(
      (body) => `PMGAuthCookie=${encodeURIComponent((JSON.parse(body) as { data: { ticket: string } }).data.ticket)}`,
    ));

  await sweep();
  fakes.send({ calls: paths.map(({ length }) => length) });
  await once(fakes, 'message');
  const results = await alternate(rounds, { ours: sweep, bare });
  const [ours, limit] = [median(results.ours), median(results.bare)];
  console.log(
    `each sweep: ${results.ours.map((s) => s.toFixed(2)).join(', ')} s; bare: ${results.bare.map((s) => s.toFixed(2)).join(', ')} s`,
  );
  report(`${total} servers of ${tenantCount} tenants`, {
    ours,
    limit: (total * 0.2) / atOnce,
    unit: 's',
    goal: 'at most 1.25',
  });
  report('the same calls sent bare', { ours, limit, unit: 's', goal: 'for comparison' });

  // The list of all in one tenant, over the API, against the query alone.
  const admin = await make.user({ role: 'ADMIN' });
  await addServers(admin.tenantId, total);
  fakes.send({ calls: paths.map(() => 1e9) });
  await once(fakes, 'message');
  await pollNow(runtime.tenant(origin, admin.tenantId));
  fakes.send({ calls: paths.map(({ length }) => length) });
  await once(fakes, 'message');
  const session = await make.session(admin);
  const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
    sub: admin.id,
    tid: admin.tenantId,
    sid: session.id,
    ver: 1,
  });
  const headers = { cookie: `portal_session=${token}` };
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const query = new Client({ connectionString: url, options: '-c role=portal_app' });
  await query.connect();
  const list = async (): Promise<number> => {
    const startedAt = performance.now();
    const answer = await fetch(`${api.url}/virtualization/servers`, { headers });
    const servers = (await answer.json()) as unknown[];
    if (servers.length !== total) throw new Error(`the list has ${servers.length}`);
    return performance.now() - startedAt;
  };
  const bareList = async (): Promise<number> => {
    const startedAt = performance.now();
    await query.query('begin');
    await query.query(`select set_config('portal.tenant', $1, true)`, [admin.tenantId]);
    await query.query(
      `select s.*, t.state, t.failure, t.message, t.checked_at, t.last_ok_at, t.headline, t.facts, t.rules, t.not_examined, t.changes
       from monitored_servers s left join server_statuses t on t.tenant_id = s.tenant_id and t.id = s.id order by lower(s.name), s.id`,
    );
    await query.query('commit');
    return performance.now() - startedAt;
  };
  await list();
  await bareList();
  const lists = await alternate(9, { ours: list, limit: bareList });
  report(`the list of ${total}`, {
    ours: median(lists.ours),
    limit: median(lists.limit),
    unit: 'ms',
    goal: 'at most 2.0, and 150 ms at most',
  });

  const p99 = async (): Promise<number> => {
    const { latency } = await autocannon({
      url: `${api.url}/auth/me`,
      headers,
      connections: 4,
      overallRate: 100,
      duration: 5,
    });
    return latency.p99;
  };
  await p99();
  const idle = await p99();
  let isOver = false;
  const meanwhile = (async () => {
    while (!isOver) await sweep();
  })();
  const busy = await p99();
  isOver = true;
  await meanwhile;
  report('p99 of GET /auth/me during a sweep and idle', { ours: busy, limit: idle, unit: 'ms', goal: 'at most 2' });

  // What this process, which is the worker, holds after each of twenty sweeps over a twentieth of them.
  fakes.send({ calls: paths.map(() => 1e9) });
  await once(fakes, 'message');
  const { id: smallTenant } = await make.tenant();
  await addServers(smallTenant, total / 20);
  const small = runtime.tenant(origin, smallTenant);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    await pollNow(small);
    collect();
    held.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  report('heap held after sweeps 16 to 20, and 6 to 10', {
    ours: median(held.slice(15)),
    limit: median(held.slice(5, 10)),
    unit: 'MB',
    goal: 'about 1',
  });
  await query.end();
  await runtime.close();
} finally {
  fakes.disconnect();
  await stopAll();
}

function bareCall(
  { address }: Product,
  path: string,
  {
    agent,
    headers = {},
    method = 'GET',
    body = '',
  }: { agent?: Agent; headers?: Record<string, string>; method?: string; body?: string },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const form = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const sent = request(
    `${address}/api2/json${path}`,
    { ...(agent && { agent }), ca: caCertificatePem, method, headers: { ...headers, ...form } },
    (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve(text));
      answer.on('error', reject);
    },
  );
  sent.on('error', reject);
  sent.end(body);
  return promise;
}
