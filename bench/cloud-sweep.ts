// 5,000 clouds that answer in 200 ms, a hundred at a time, against the ten seconds that takes at best; their list; and the API meanwhile
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { Client } from 'pg';
import { openDatabase } from '@portal/db/open';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { listCloudInstances } from '@portal/usecases/cloud-status/instances';
import { checkDueInstances } from '@portal/usecases/cloud-status/jobs';
import {
  alternate,
  benchDatabase,
  benchSettings,
  during,
  median,
  percentile,
  report,
  startServer,
  startWorker,
  stopAll,
  timed,
} from './measure.ts';

const count = Number(process.argv[2] ?? 5_000);
const latencyMs = 200;
const atOnce = 100;
const idleMs = 10_000;
const children: ChildProcess[] = [];
try {
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), LOG_LEVEL: 'warn' };
  const config = readConfig(settings);
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const admin = await make.user({ role: 'ADMIN' });
  const { tenantId } = admin;
  const clouds = fork('bench/cloud-servers.ts', [String(latencyMs)]);
  children.push(clouds);
  const [{ origin }] = (await once(clouds, 'message')) as [{ origin: string }];
  const rows = Array.from({ length: count }, (_, n) => ({
    id: newId(),
    tenantId,
    customerName: `Kunde ${n}`,
    statusUrl: `${origin}/${n}`,
    slotSec: n % 3_600,
    nextCheckAt: sql`now() + interval '1 hour'`,
  }));
  const { tx, read } = database.inTenant(tenantId);
  for (let n = 0; n < count; n += 1_000) await tx((db) => db.insert(cloudInstances).values(rows.slice(n, n + 1_000)));
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query('analyze');
  await owner.end();

  const session = await make.session(admin);
  const token = openSessionTokens(config.sessionKeys).issue({ sub: admin.id, tid: tenantId, sid: session.id, ver: 1 });
  const cookie = `portal_session=${token}`;
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  await startWorker(settings, join(folder, 'worker.log'));

  const runtime = openRuntime(config, { process: 'script', log: openLog('silent', 'script') });
  const system = runtime.system({ requestId: 'bench', ip: null, userAgent: null });
  const ctx = await authenticate(system, token);

  await during(pause(3_000), `${api.url}/auth/me`, cookie);
  const idle = await during(pause(idleMs), `${api.url}/auth/me`, cookie);

  /** From the first one due to the last one checked, in milliseconds by the database's clock. */
  async function sweep(): Promise<number> {
    await tx((db) => db.update(cloudInstances).set({ nextCheckAt: sql`now()` }));
    const [before] = await read((db) =>
      db
        .select({ at: sql<string>`now()::text` })
        .from(cloudInstances)
        .limit(1),
    );
    await system.enqueue(checkDueInstances, { tenantId });
    for (;;) {
      const [row] = await read((db) =>
        db
          .select({
            // Some are due again within the sweep, because their time of the hour has come.
            left: sql<number>`(count(*) filter (where coalesce(${cloudInstances.checkedAt} < ${before?.at}::timestamptz, true)))::int`,
            ms: sql<number>`extract(epoch from max(${cloudInstances.checkedAt}) - ${before?.at}::timestamptz)::float8 * 1000`,
          })
          .from(cloudInstances),
      );
      if (row?.left === 0) return row.ms;
      await pause(100);
    }
  }
  let sweptMs = 0;
  const busy = await during(
    sweep().then((ms) => (sweptMs = ms)),
    `${api.url}/auth/me`,
    cookie,
  );
  report(`${count} clouds of ${latencyMs} ms, ${atOnce} at a time`, {
    ours: sweptMs / 1_000,
    limit: (count / atOnce) * (latencyMs / 1_000),
    unit: 's',
    goal: 'at most 1.25',
  });
  clouds.send('tell');
  const [{ requests, mostAtOnce }] = (await once(clouds, 'message')) as [{ requests: number; mostAtOnce: number }];
  console.log(`${requests} requests, ${mostAtOnce} at once at most`);
  report('p99 of GET /auth/me during the sweep', {
    ours: percentile(busy, 0.99),
    limit: percentile(idle, 0.99),
    unit: 'ms',
    goal: 'at most 2',
  });

  // The same columns of the same rows in the same order, and nothing made of them.
  const bare = new Client({ connectionString: url });
  await bare.connect();
  await bare.query(`set role portal_app; select set_config('portal.tenant', '${tenantId}', false)`);
  const text = `select i.id, customer_name, status_url, logo_path is not null, is_active, last_check_state, reported_state,
      consecutive_failures, failure, message, checked_at, last_ok_at, is_maintenance, needs_db_upgrade, version, release,
      has_extended_support, product_name, s.user_id is not null
    from cloud_instances i left join cloud_subscriptions s
      on s.tenant_id = i.tenant_id and s.instance_id = i.id and s.user_id = $1
    order by customer_name, i.id`;
  const listed = async (): Promise<number> => {
    const startedAt = performance.now();
    const instances = await listCloudInstances(ctx);
    if (instances.length !== count) throw new Error('the list is not whole');
    return performance.now() - startedAt;
  };
  const queried = async (): Promise<number> => {
    const startedAt = performance.now();
    await bare.query(text, [admin.id]);
    return performance.now() - startedAt;
  };
  for (let n = 0; n < 5; n += 1) await alternate(1, { ours: listed, limit: queried });
  const lists = await alternate(25, { ours: listed, limit: queried });
  report(`list of ${count} with assessment`, {
    ours: median(lists.ours),
    limit: median(lists.limit),
    unit: 'ms',
    goal: 'at most 2.0',
  });
  const overHttp: number[] = [];
  for (let n = 0; n < 15; n += 1) overHttp.push(await timed(`${api.url}/cloud-status/instances`, cookie));
  report(`GET /cloud-status/instances of ${count}`, {
    ours: median(overHttp),
    limit: median(lists.limit),
    unit: 'ms',
    goal: 'for comparison',
  });
  await bare.end();
  await runtime.close();
  await database.close();
} finally {
  for (const child of children) child.kill('SIGKILL');
  await stopAll();
}
