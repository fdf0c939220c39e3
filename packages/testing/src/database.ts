import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, inject } from 'vitest';
import type { TestServer } from './global-setup.ts';
import { placeQueues } from './test-matrix.ts';

let copies = 0;

/**
 * Creates a migrated, empty database for the calling test file, and drops it when the file ends. `url` uses the login of the apps;
 * `ownerUrl` has rights that no code of the product has.
 * Call it at the top level of the file or in a describe. It fails the file if connections stay open.
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

/** The address of a Redis database that no other file uses. */
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

/** The server lists a closed connection for another moment, and that of a killed process a little longer. */
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
