// Polls 2,000 servers of four tenants, 100 at a time, 200 ms each, against 4.0 s and the same calls sent bare; also their list, the API
// during a sweep and the worker’s memory. `--servers 200` for fewer; `--part sweep`, `api`, `list` or `memory` for one part.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inArray, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { runs } from '@portal/db/schema/platform/operations';
import { readConfig } from '@portal/platform/config';
import type { TenantContext } from '@portal/platform/context';
import { openLog } from '@portal/platform/log';
import { addRun } from '@portal/platform/runs/start';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { addServers, serverForm } from '@portal/testing/monitoring';
import { cpuSecOf } from '@portal/testing/processor-time';
import type { ProductServer } from '@portal/testing/servers/products/product-server';
import { the } from '@portal/testing/the';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { pollServers } from '@portal/usecases/monitoring/jobs';
import { listServers, listServersAsJson } from '@portal/usecases/monitoring/servers';
import {
  alternate,
  benchDatabase,
  benchSettings,
  during,
  freePort,
  median,
  memoryMb,
  openInspector,
  percentile,
  report,
  slope,
  startServer,
  startWorker,
  stopAll,
  timed,
} from './measure.ts';
import type { Product } from './product-paths.ts';

const { values } = parseArgs({ options: { servers: { type: 'string', default: '2000' }, part: { type: 'string' } } });
const isWanted = (part: 'sweep' | 'api' | 'list' | 'memory') => values.part === undefined || values.part === part;
const total = Number(values.servers);
const tenantCount = 4;
const atOnce = 100;
const runMs = 200;
const rounds = 5;
const sweepsForMemory = 20;
const idleMs = 10_000;

const fakes = fork(join(import.meta.dirname, 'product-servers.ts'));
const bareClient = fork(join(import.meta.dirname, 'bare-polls.ts'));
try {
  const [products] = (await once(fakes, 'message')) as [Product[]];
  const letRunsTake = async (ms: number) => {
    fakes.send({ runMs: ms });
    await once(fakes, 'message');
  };
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10', LOG_LEVEL: 'warn' };
  const config = readConfig(settings);
  const runtime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
  const make = builders(runtime.database);
  const origin = { requestId: 'bench', ip: null, userAgent: null };

  const forms = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      serverForm(products[n % products.length] as ProductServer, { name: `server ${n}`, verifyTls: false }),
    );

  const admin = await make.user({ role: 'ADMIN' });
  const whole = runtime.tenant(origin, admin.tenantId);
  if (isWanted('list')) await addServers(whole, forms(total));
  const tenants = await Promise.all(
    Array.from({ length: tenantCount }, async () => runtime.tenant(origin, (await make.tenant()).id)),
  );
  for (const ctx of tenants) await addServers(ctx, forms(total / tenantCount));
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();

  const isApiNeeded = isWanted('api') || isWanted('list');
  const api = isApiNeeded ? await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log')) : { url: '' };
  const inspectorPort = await freePort();
  const worker = await startWorker(
    { ...settings, NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` },
    join(folder, 'worker.log'),
  );

  /** Seconds of one run of each of these tenants, from its row to its end, by the database’s clock. */
  async function sweepOf(contexts: TenantContext[]): Promise<number> {
    const started = await Promise.all(
      contexts.map(async (ctx) => {
        const payload = { tenantId: ctx.tenantId };
        const runId = await ctx.tx((tx) => addRun(tx, pollServers, payload, { startedBy: null }));
        await ctx.enqueue(pollServers, payload, { runId });
        return { ctx, runId };
      }),
    );
    const ids = started.map(({ runId }) => runId);
    for (;;) {
      await pause(100);
      const [row] = await runtime.database.acrossTenants('the benchmark waits for runs', (tx) =>
        tx
          .select({
            open: sql<number>`(count(*) filter (where ${runs.state} in ('queued', 'running')))::int`,
            failed: sql<number>`(count(*) filter (where ${runs.state} = 'failed'))::int`,
            sec: sql<number>`extract(epoch from max(${runs.finishedAt}) - min(${runs.createdAt}))::float8`,
          })
          .from(runs)
          .where(inArray(runs.id, ids)),
      );
      if (row?.failed !== 0) throw new Error('a run failed');
      if (row.open === 0) return row.sec;
    }
  }
  const sweep = () => sweepOf(tenants);
  const bare = async (): Promise<number> => {
    bareClient.send({ products, total, atOnce });
    const [{ sec }] = (await once(bareClient, 'message')) as [{ sec: number }];
    return sec;
  };

  // The first sweep makes the calls that are only made now and then.
  await letRunsTake(0);
  if (isWanted('list')) await sweepOf([whole]);
  await sweep();

  const session = await make.session(admin);
  const claims = { sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 };
  const cookie = `portal_session=${openSessionTokens(config.sessionKeys).issue(claims)}`;

  if (isWanted('sweep')) {
    await letRunsTake(runMs);
    const cpu = { ours: 0, bare: 0 };
    const counted = async (child: typeof worker, owner: keyof typeof cpu, work: () => Promise<number>) => {
      const before = cpuSecOf(child.pid);
      const sec = await work();
      cpu[owner] += cpuSecOf(child.pid) - before;
      return sec;
    };
    const results = await alternate(rounds, {
      ours: () => counted(worker, 'ours', sweep),
      bare: () => counted(bareClient, 'bare', bare),
    });
    const sec = { ours: median(results.ours), bare: median(results.bare), limit: (total * runMs) / 1_000 / atOnce };
    const shown = (seconds: number[]) => seconds.map((s) => s.toFixed(2)).join(', ');
    console.log(`each sweep: ${shown(results.ours)} s; bare: ${shown(results.bare)} s`);
    const what = `${total} servers of ${tenantCount} tenants`;
    report(`${what}, against the time the servers take`, {
      ours: sec.ours,
      limit: sec.limit,
      unit: 's',
      goal: 'for comparison: what the servers allow',
    });
    report('the same calls sent bare, against the same time', {
      ours: sec.bare,
      limit: sec.limit,
      unit: 's',
      goal: 'for comparison: the speed of the machine',
    });
    report(`${what}, against the same calls sent bare`, {
      ours: sec.ours,
      limit: sec.bare,
      unit: 's',
      goal: 'at most 1.3',
    });
    report('processor time of a poll, and of its calls sent bare', {
      ours: (cpu.ours * 1_000) / rounds / total,
      limit: (cpu.bare * 1_000) / rounds / total,
      unit: 'ms',
      goal: 'for comparison',
    });
  }

  if (isWanted('api')) {
    await letRunsTake(runMs);
    const me = `${api.url}/auth/me`;
    await during(pause(3_000), me, cookie);
    const idle = percentile(await during(pause(idleMs), me, cookie), 0.99);
    const meanwhile = percentile(await during(sweep(), me, cookie), 0.99);
    const besideBare = percentile(await during(bare(), me, cookie), 0.99);
    report('p99 of GET /auth/me during a sweep and idle', {
      ours: meanwhile,
      limit: idle,
      unit: 'ms',
      goal: 'at most 2',
    });
    report('p99 of GET /auth/me while the calls are sent bare and idle', {
      ours: besideBare,
      limit: idle,
      unit: 'ms',
      goal: 'for comparison: the load of the machine',
    });
  }

  if (isWanted('list')) {
    const servers = await listServers(whole);
    if (servers.length !== total || servers.some(({ status }) => status.state === 'unknown'))
      throw new Error('the list is incomplete');
    // Reads the same columns of the same rows in the same order, and does nothing with them.
    const query = new Client({ connectionString: url });
    await query.connect();
    await query.query(`set role portal_app; select set_config('portal.tenant', '${admin.tenantId}', false)`);
    const text = `select s.id, s.kind, s.name, s.address, s.auth_method, s.token_id, s.token_secret is not null, s.username,
      s.password is not null, s.verify_tls, s.ca_certificate_pem, s.poll_interval_min, s.is_active, s.created_at, s.updated_at,
      t.state, t.failure, t.message, t.checked_at, t.last_ok_at, t.headline, t.facts, t.rules, t.not_examined, t.changes
    from monitored_servers s left join server_statuses t on t.tenant_id = s.tenant_id and t.id = s.id order by lower(s.name), s.id`;
    const took = async (work: () => Promise<unknown>): Promise<number> => {
      const startedAt = performance.now();
      await work();
      return performance.now() - startedAt;
    };
    const measurements = {
      built: () => took(() => listServersAsJson(whole)),
      queried: () => took(() => query.query(text)),
      requested: () => timed(`${api.url}/virtualization/servers`, cookie),
    };
    await alternate(5, measurements);
    const lists = await alternate(15, measurements);
    const limitOfList = { limit: median(lists.queried), unit: 'ms' };
    report(`the list of ${total} with status`, { ours: median(lists.built), ...limitOfList, goal: 'at most 2.0' });
    report(`GET /virtualization/servers of ${total}`, {
      ours: median(lists.requested),
      ...limitOfList,
      goal: 'at most 2.0, and 150 ms at most',
    });
    await query.end();
  }

  if (isWanted('memory')) {
    await letRunsTake(0);
    const inspector = await openInspector(inspectorPort);
    const samples: { resident: number; heap: number }[] = [];
    for (let n = 1; n <= sweepsForMemory; n += 1) {
      await sweepOf(tenants.slice(0, 1));
      samples.push({ resident: await memoryMb(worker.pid), heap: await inspector.heapMb() });
      const { resident, heap } = the(samples.at(-1));
      console.log(
        `sweep ${n} of ${total / tenantCount} servers: ${resident.toFixed(1)} MB resident, heap ${heap.toFixed(2)} MB`,
      );
    }
    inspector.close();
    for (const what of ['resident', 'heap'] as const) {
      const mb = samples.map((one) => one[what]);
      report(`${what} memory of the worker after sweeps 16 to 20, and 6 to 10`, {
        ours: median(mb.slice(15)),
        limit: median(mb.slice(5, 10)),
        unit: 'MB',
        goal: `about 1; from sweep 6 on it grows by ${slope(mb.slice(5)).toFixed(3)} MB a sweep`,
      });
    }
  }
  await runtime.close();
} finally {
  fakes.disconnect();
  bareClient.disconnect();
  await stopAll();
}
