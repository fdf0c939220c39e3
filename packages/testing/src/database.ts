import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, inject } from 'vitest';
import type { TestServer } from './global-setup.ts';
import { placeQueues } from './test-matrix.ts';

let copies = 0;

/**
 * A migrated, empty database for the calling test file, dropped when the file is done. `url` is under the login of the apps;
 * `ownerUrl` is for what no code of the product may do.
 * Call it at the top level of the file or in a describe; it fails the file when connections stay open.
 */
export async function testDatabase(): Promise<{ url: string; ownerUrl: string }> {
  const { url: serverUrl, app, template, redisUrl }: TestServer = inject('testServer');
  const name = template.replace(/template$/, `${process.pid}_${++copies}_${Date.now().toString(36)}`);
  await onServer(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`),
  );
  afterAll(async () => {
    await onServer(serverUrl, async (client) => {
      const open = await waitForOpenConnections(client, name);
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      if (open > 0) throw new Error(`This file left ${open} database connections open.`);
    });
  });
  const ownerUrl = new URL(serverUrl);
  ownerUrl.pathname = `/${name}`;
  const url = Object.assign(new URL(ownerUrl), app);
  if (redisUrl !== null) placeQueues(url.href, await emptyDatabaseOf(redisUrl));
  return { url: url.href, ownerUrl: ownerUrl.href };
}

/** One of the databases of a Redis, each given out once. */
async function emptyDatabaseOf(redisUrl: string): Promise<string> {
  const client = new Redis(redisUrl);
  try {
    return `${redisUrl}/${await client.incr('given out')}`;
  } finally {
    client.disconnect();
  }
}

async function onServer<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'portal-tests' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A closed connection leaves the server's list a moment later, that of a killed process a little later still. */
async function waitForOpenConnections(client: Client, database: string): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const { rows } = await client.query<{ open: number }>(
      `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
      [database],
    );
    const open = rows[0]?.open ?? 0;
    if (open === 0 || attempt === 40) return open;
    await pause(50);
  }
}
