// GET /users?limit=100 of a tenant of 1,000 accounts among 100,000, against a bare Fastify handler with the same statement and bytes.
import { join } from 'node:path';
import autocannon from 'autocannon';
import { Pool, type QueryResult } from 'pg';
import { openDatabase } from '@portal/db/open';
import { execute } from '@portal/db/prepared';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { accountColumns } from '@portal/usecases/accounts/account-columns';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { usersPage } from '@portal/usecases/accounts/users';
import { alternate, benchDatabase, benchSettings, median, report, startServer, stopAll } from './measure.ts';

const seconds = Number(process.argv[2] ?? 6);
const rounds = Number(process.argv[3] ?? 5);

/** Fills the database up to 100 tenants of 1,000 accounts, including `tenantId`. */
async function fill(url: string, tenantId: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 });
  await pool.query(
    `insert into tenants (id, name) select gen_random_uuid(), 'Tenant ' || n from generate_series(1, 99) n`,
  );
  await pool.query(
    `insert into users (id, tenant_id, username, email, display_name, first_name, last_name, last_login_at)
     select gen_random_uuid(), t.id, 'person' || n || '.' || left(t.id::text, 8), 'person' || n || '.' || left(t.id::text, 8) || '@example.org',
       'Person Nr. ' || n, 'Person', 'Nr. ' || n, now() - n * interval '1 minute'
     from tenants t, generate_series(1, 1000) n where t.id <> $1 or n < 1000`,
    [tenantId],
  );
  await pool.query('vacuum analyze');
  await pool.end();
}

/** The statement of our route for a login without row policies: with the tenant in its conditions, and with the names of the answer. */
async function bareStatement(tenantId: string): Promise<{ text: string; values: unknown[] }> {
  const params = { limit: 101 };
  let sent = { text: '', values: [] as unknown[] };
  await execute({}, usersPage(params), params, async (statement, values) => {
    sent = { text: statement.text, values: values ?? [] };
    return { rows: [] } as unknown as QueryResult;
  });
  const own = `"users"."tenant_id" = '${tenantId}'`;
  const text = sent.text
    .replace(/ from "users" limit /, ` from "users" where ${own} limit `)
    .replace(/ order by /, ` where ${own} order by `);
  if (text.split(own).length !== 3) throw new Error(`the statement has an unexpected form: ${sent.text}`);
  const columns = [...Object.keys(accountColumns), 'total'].map((name) => `"${name}"`);
  const answered = `id, username, email, "displayName", "firstName", "lastName", role, "tenantId", "tenantName", "isLocalUser", "hasAvatar", "accentColor", "mustChangePassword", "lastLoginAt", "lastSeenReleaseVersion", "isActive", case when "isLocalUser" then 'local' else 'directory' end as source, "welcomeMailSentAt", "createdAt", "updatedAt", total`;
  return { text: `select ${answered} from (${text}) as page (${columns.join()})`, values: sent.values };
}

try {
  const { url, folder } = await benchDatabase();
  const settings = { ...benchSettings(url, join(folder, 'data')), DATABASE_POOL_MAX: '10' };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const admin = await make.user({ role: 'ADMIN' });
  const session = await make.session(admin);
  await database.close();
  await fill(url, admin.tenantId);
  const token = openSessionTokens(readConfig(settings).sessionKeys).issue({
    sub: admin.id,
    tid: admin.tenantId,
    sid: session.id,
    ver: 1,
  });
  const headers = { cookie: `portal_session=${token}` };

  const { text, values } = await bareStatement(admin.tenantId);
  const ours = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const bare = await startServer(
    'bench/bare-list.ts',
    { ...settings, BENCH_STATEMENT: text, BENCH_VALUES: JSON.stringify(values) },
    join(folder, 'bare.log'),
  );
  const path = '/users?limit=100';
  const answers = await Promise.all([ours, bare].map((server) => fetch(server.url + path, { headers })));
  const [ourBody, bareBody] = await Promise.all(answers.map((answer) => answer.text()));
  if (ourBody !== bareBody)
    throw new Error(`the answers differ:\n${ourBody?.slice(0, 600)}\n${bareBody?.slice(0, 600)}`);
  const totals = answers.map((answer) => answer.headers.get('x-total-count'));
  if (totals.some((total) => total !== '1000')) throw new Error(`totals of ${totals.join(' and ')}`);

  const load = (target: string) => async () => {
    const result = await autocannon({ url: target + path, connections: 32, duration: seconds, headers });
    if (result.non2xx > 0 || result.errors > 0)
      throw new Error(`${target}: ${result.non2xx} refused, ${result.errors} failed`);
    return result.requests.average;
  };
  const list = load(ours.url);
  const limit = load(bare.url);
  await Promise.resolve(list()).then(limit); // warm-up
  const results = await alternate(rounds, { list, limit });
  report('GET /users?limit=100', {
    ours: median(results.list),
    limit: median(results.limit),
    unit: 'req/s',
    goal: 'at least 0.60',
  });
} finally {
  await stopAll();
}
