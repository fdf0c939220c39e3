// What grows with the number of tenants: calls and scheduled jobs of one tenant among 1, 100 and 10,000 tenants of 100 accounts.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { buildApp } from '@portal/api/app';
import { migrateDatabase } from '@portal/db/migrate';
import { breakpoints } from '@portal/domain/dashboards/grid';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { sweepRuns } from '@portal/platform/operations/jobs';
import { deliverMails, sweepMails } from '@portal/platform/outbox/jobs';
import { openRuntime } from '@portal/platform/runtime';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { areas } from '@portal/usecases/areas';
import { startDueChecks } from '@portal/usecases/cloud-status/jobs';
import { startDueSyncs } from '@portal/usecases/directory/jobs';
import { handlersFor } from '@portal/usecases/handlers';
import { startDueFetches } from '@portal/usecases/invoices/jobs';
import { startDuePolls } from '@portal/usecases/monitoring/jobs';
import { queueDueMails } from '@portal/usecases/reminders/jobs';
import { startDueAlerts, startDueMailboxes } from '@portal/usecases/tenders/jobs';
import { accountsPerTenant, fillWithTenants } from './many-tenants.ts';
import { benchDatabase, benchSettings, percentile, stopAll } from './measure.ts';

const { values } = parseArgs({
  options: { tenants: { type: 'string', default: '10000' }, calls: { type: 'string', default: '100' } },
});
const most = Number(values.tenants);
const sizes = [...[1, 100].filter((tenants) => tenants < most), most];
const calls = Number(values.calls);
const warmUp = 10;
const goal = 1.3;

/** If anything fails, the server is stopped under its connections; that must not hide the failure. */
const ignore = () => undefined;

/** Work to be measured. `prepare` is a statement that makes the work due again; it is not measured. */
interface Work {
  name: string;
  prepare?: string;
  once(): Promise<unknown>;
}

/** Statements that make rows of a tenant due for a scheduled job; a job without one finds nothing to do. */
const dueFor = (tenantId: string): Record<string, string> => {
  const own = `where tenant_id = '${tenantId}'`;
  const now = `now() - interval '1 second'`;
  const runsEnded = `delete from runs ${own} and state in ('queued', 'running')`;
  return {
    [queueDueMails.name]: `update reminders set due_at = ${now}, email_queued_at = null, occurrence_id = uuidv7() ${own} and email_enabled and done_at is null`,
    [startDuePolls.name]: `${runsEnded}; update poll_plans set next_poll_at = ${now} ${own}`,
    [startDueSyncs.name]: `${runsEnded}; update ldap_configs set next_sync_at = ${now} ${own}`,
    [startDueFetches.name]: `${runsEnded}; update invoice_mailboxes set next_fetch_at = ${now} ${own}`,
    [sweepRuns.name]: `update runs set due_at = ${now} ${own} and state in ('queued', 'running')`,
    [startDueChecks.name]: `update cloud_instances set next_check_at = ${now} ${own}`,
    [startDueMailboxes.name]: `update tender_mailboxes set next_fetch_at = ${now} ${own}`,
    [startDueAlerts.name]: `update tender_matches set notified_at = null, alert_id = null ${own}; update mails set key = id::text ${own} and kind like 'tenders/%'`,
    [sweepMails.name]: mailsDue(own),
    [deliverMails.name]: mailsDue(own),
  };
};
const mailsDue = (own: string) =>
  `update mails set state = 'queued', due_at = now(), settled_at = null, attempts = 0 ${own} and key in (select key from mails ${own} order by id limit 10)`;

/** Opens the product on a database with that many tenants, and returns what is measured there. */
async function open(databaseUrl: string, folder: string, tenants: number) {
  const startedAt = performance.now();
  await migrateDatabase(databaseUrl);
  const { tenantId, adminId } = await fillWithTenants(databaseUrl, tenants);
  const owner = new Client({ connectionString: databaseUrl });
  owner.on('error', ignore);
  await owner.connect();
  const { rows } = await owner.query<{ size: string }>('select pg_database_size(current_database()) as size');
  console.log(
    `${tenants} tenants, ${tenants * accountsPerTenant} accounts: ${(Number(rows[0]?.size) / 1e6).toFixed(0)} MB, filled in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`,
  );
  const config = readConfig({
    ...benchSettings(databaseUrl, join(folder, 'data')),
    DATABASE_POOL_MAX: '4',
    LOG_LEVEL: 'silent',
  });
  const runtime = openRuntime(config, { process: 'api', log: openLog('silent', 'api') });
  const app = await buildApp(runtime);
  const session = await builders(runtime.database).session({ id: adminId, tenantId });
  const claims = { sub: adminId, tid: tenantId, sid: session.id, ver: 1 };
  const cookie = `portal_session=${openSessionTokens(config.sessionKeys).issue(claims)}`;

  const call = async (method: 'GET' | 'PUT', url: string, payload?: object) => {
    const answer = await app.inject({ method, url, headers: { cookie }, ...(payload ? { payload } : {}) });
    if (answer.statusCode !== 200) throw new Error(`${method} ${url} answered ${answer.statusCode}: ${answer.body}`);
    return answer;
  };
  const [tab] = (await call('GET', '/dashboard/tabs')).json<{ id: string }[]>();
  const widgets = (await call('GET', `/dashboard/tabs/${tab?.id}/widgets`)).json<{ id: string; type: string }[]>();
  const layouts = Object.fromEntries(
    breakpoints.map((breakpoint) => [
      breakpoint,
      widgets.map(({ id }, n) => ({ i: id, x: 0, y: n * 6, w: 2, h: 6, minW: 1, minH: 2 })),
    ]),
  );
  const [server] = (await call('GET', '/virtualization/servers')).json<{ id: string }[]>();
  const favorites = widgets.find(({ type }) => type === 'favorites')?.id;

  const routes: Work[] = [
    '/auth/me',
    '/auth/sessions',
    '/users?limit=100',
    '/users?search=Nr.%204',
    '/audit-log',
    '/audit-log?action=auth.login',
    '/groups',
    '/modules/active',
    '/module-grants/matrix',
    '/dashboard/tabs',
    `/dashboard/tabs/${tab?.id}/widgets`,
    `/favorites?widgetId=${favorites}`,
    '/reminders',
    '/reminders/notifications',
    '/virtualization/servers',
    '/virtualization/status',
    `/virtualization/servers/${server?.id}/history`,
    '/cloud-status/instances',
    '/cloud-status/transitions',
    '/invoices',
    '/tenders?limit=25',
    '/tenders?limit=25&q=Reinigung',
    '/tenders/saved-searches',
  ].map((url) => ({
    name: `GET ${url.replaceAll(/[0-9a-f-]{36}/g, ':id')}`,
    once: () => call('GET', url),
  }));
  const save: Work = {
    name: 'PUT /dashboard/tabs/:id/layout',
    once: () => call('PUT', `/dashboard/tabs/${tab?.id}/layout`, { __gridVersion: 2, layouts }),
  };

  const due = dueFor(tenantId);
  const handlers = handlersFor(areas);
  const scheduled = areas.flatMap(({ schedules = [] }) => schedules).filter(({ rhythm }) => 'everyMs' in rhythm);
  const jobs: Work[] = [...scheduled, { job: deliverMails, payload: { tenantId } }].map(({ job, payload }) => {
    const handler = handlers.find((one) => one.job === job);
    const prepare = due[job.name];
    return {
      name: job.name,
      ...(prepare === undefined ? {} : { prepare }),
      once: async () =>
        handler?.perform(runtime, { requestId: 'bench', actorId: null }, payload as never, {
          signal: AbortSignal.timeout(60_000),
          actorId: null,
          run: null,
          progress: () => undefined,
        }),
    };
  });
  return {
    works: [...routes, save, ...jobs],
    prepare: (statement: string) => owner.query(statement),
    async close() {
      await app.close();
      await runtime.close();
      await owner.end();
    },
  };
}

/** Milliseconds of each time the work is done. */
async function timesOf(
  { works, prepare }: Awaited<ReturnType<typeof open>>,
  at: number,
  count: number,
): Promise<number[]> {
  const work = works[at];
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    if (work?.prepare !== undefined) await prepare(work.prepare);
    const startedAt = performance.now();
    await work?.once();
    times.push(performance.now() - startedAt);
  }
  return times;
}

const products: Awaited<ReturnType<typeof open>>[] = [];
try {
  const { url, folder } = await benchDatabase({ sharedBuffers: '2GB' });
  const postgres = new Client({ connectionString: url });
  postgres.on('error', ignore);
  await postgres.connect();
  const empty = new URL(url).pathname.slice(1);
  // Nothing that is filled in outlives this program, so it need not survive a crash; what is measured does.
  const set = (value: string) =>
    postgres.query(`alter system ${value}`).then(() => postgres.query('select pg_reload_conf()'));
  for (const name of ['fsync', 'full_page_writes']) await set(`set ${name} = off`);
  for (const tenants of sizes) {
    await postgres.query(`create database scale_${tenants} template ${empty}`);
    products.push(await open(Object.assign(new URL(url), { pathname: `/scale_${tenants}` }).href, folder, tenants));
  }
  for (const name of ['fsync', 'full_page_writes']) await set(`reset ${name}`);
  await postgres.end();

  console.log(
    `\nmilliseconds, p50 / p99, among ${sizes.join(', ')} tenants; and the p50 among the most by that of one alone`,
  );
  const above: string[] = [];
  for (const [at, { name }] of (products[0]?.works ?? []).entries()) {
    const times = products.map((): number[] => []);
    for (const product of products) await timesOf(product, at, warmUp);
    // In turn, so that changes in the machine's speed affect all of them.
    for (let round = 0; round < calls / 10; round += 1)
      for (const [n, product] of products.entries()) times[n]?.push(...(await timesOf(product, at, 10)));
    const middles = times.map((ms) => percentile(ms, 0.5));
    const ratio = (middles.at(-1) ?? Number.NaN) / (middles[0] ?? Number.NaN);
    if (!(ratio <= goal)) above.push(name);
    const shown = times.map((ms, n) => `${middles[n]?.toFixed(2)} / ${percentile(ms, 0.99).toFixed(2)}`.padStart(15));
    console.log(`${name.padEnd(44)} ${shown.join(' ')}  ${ratio.toFixed(2)}`);
  }
  console.log(above.length === 0 ? `none grows beyond ${goal}` : `beyond ${goal}: ${above.join(', ')}`);
} finally {
  for (const product of products) await product.close();
  await stopAll();
}
