import { randomBytes, randomInt } from 'node:crypto';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrateDatabase } from '@portal/db/migrate';
import { removeAbandonedServers, startTestServer } from './server.ts';
import { startRedis } from './servers/redis.ts';
import { testMatrix } from './test-matrix.ts';

export interface TestServer {
  /** Address with the login that owns the databases. */
  url: string;
  /** The login of the apps, which tests use as well. */
  app: { username: string; password: string };
  /** The migrated database that each test file gets a copy of. */
  template: string;
  /** Redis for the queues of test files that do not choose a backend; null for the database of the file. */
  redisUrl: string | null;
}

declare module 'vitest' {
  export interface ProvidedContext {
    testServer: TestServer;
  }
}

// First half of the advisory lock of a run; the second half is the number in the names of its databases
const runLock = 20_260_101;

/**
 * Starts one server and one migrated template for a whole run, before the first project that needs them. Returns a function that removes
 * both; projects end in the opposite order.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = project.vitest.getRootProject();
  if ('testServer' in run.getProvidedContext()) return undefined;
  const given = process.env['DATABASE_URL'];
  if (!given) await removeAbandonedServers();
  const redis = testMatrix.queues === 'redis' ? await startRedis({ databases: 8_192 }) : null;
  const server = given ? { url: given, stop: async () => {} } : await startTestServer();
  try {
    const databases = await prepareDatabases(server.url);
    run.provide('testServer', {
      url: server.url,
      app: databases.app,
      template: databases.template,
      redisUrl: redis?.url ?? null,
    });
    return async () => {
      await databases.remove();
      await server.stop();
      await redis?.stop();
    };
  } catch (error) {
    await server.stop();
    await redis?.stop();
    throw error;
  }
}

async function prepareDatabases(
  url: string,
): Promise<Omit<TestServer, 'url' | 'redisUrl'> & { remove(): Promise<void> }> {
  const client = new Client({ connectionString: url, application_name: 'portal-tests' });
  await client.connect();
  try {
    await dropAbandonedDatabases(client);
    const run = randomInt(1, 1_000_000_000);
    await client.query('SELECT pg_advisory_lock($1, $2)', [runLock, run]);
    const template = `portal_test_${run}_template`;
    await client.query(`CREATE DATABASE ${template}`);
    const templateUrl = new URL(url);
    templateUrl.pathname = `/${template}`;
    const app = { username: `portal_test_${run}_login`, password: randomBytes(24).toString('base64url') };
    await migrateDatabase(templateUrl.href, { appUrl: Object.assign(new URL(templateUrl), app).href });
    // No connections, not even those of autovacuum: PostgreSQL cannot copy a template in use
    await client.query(`ALTER DATABASE ${template} WITH ALLOW_CONNECTIONS false`);
    return {
      template,
      app,
      async remove() {
        await dropDatabasesOf(client, run);
        await client.end();
      },
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** Drops databases and logins of killed runs, which no longer hold their lock. */
async function dropAbandonedDatabases(client: Client): Promise<void> {
  const { rows } = await client.query<{ run: number }>(
    `SELECT DISTINCT substring(name FROM '^portal_test_(\\d+)_')::int AS run
     FROM (SELECT datname AS name FROM pg_database UNION SELECT rolname FROM pg_roles) names
     WHERE name ~ '^portal_test_\\d{1,9}_'`,
  );
  for (const { run } of rows) {
    const lock = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS free', [runLock, run]);
    if (!lock.rows[0]?.free) continue;
    await dropDatabasesOf(client, run);
    await client.query('SELECT pg_advisory_unlock($1, $2)', [runLock, run]);
  }
}

async function dropDatabasesOf(client: Client, run: number): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
    [`portal_test_${run}_`],
  );
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  await client.query(`DROP ROLE IF EXISTS portal_test_${run}_login`);
}
