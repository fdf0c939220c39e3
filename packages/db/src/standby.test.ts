import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startEmbeddedPostgres } from './embedded.ts';
import { migrateDatabase } from './migrate.ts';
import { openDatabase } from './open.ts';
import { openQueuePool } from './queue-pool.ts';

it('does not work on a standby, and works with it within a second of its promotion', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-standby-'));
  const start = () => startEmbeddedPostgres({ dataDir: folder, durable: false });
  const primary = await start();
  await migrateDatabase(primary.url, { appUrl: primary.appUrl });
  await primary.stop();
  const data = join(primary.folder, 'data');
  const { uid, gid } = await stat(data);
  await writeFile(join(data, 'standby.signal'), '');
  await chown(join(data, 'standby.signal'), uid, gid);
  const standby = await start();
  const database = openDatabase({ url: standby.appUrl, poolMax: 2, applicationName: 'portal-standby-test' });
  const queues = openQueuePool({
    url: standby.appUrl,
    max: 2,
    applicationName: 'portal-standby-test-queue',
    onConnectionLost: () => undefined,
  });
  onTestFinished(async () => {
    await database.close();
    await queues.end();
    await standby.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  await expect(database.ping()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    cause: { message: expect.stringContaining('standby') },
  });
  await expect(queues.query('select 1')).rejects.toThrow('standby');
  expect(database.poolState()).toMatchObject({ total: 0 });

  const owner = new Client({ connectionString: standby.url });
  await owner.connect();
  await owner.query('select pg_promote()');
  await owner.end();
  await vi.waitFor(() => database.ping(), { timeout: 1_000, interval: 50 });
  await expect(queues.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
});
