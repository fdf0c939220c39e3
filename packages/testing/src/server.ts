import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedOptions, startEmbeddedPostgres, stopEmbeddedPostgres } from '@portal/db/embedded';
import { isSameProcess, processIdentity } from '@portal/db/process-identity';

const prefix = 'portal-test-server-';

/** Starts a PostgreSQL in a new folder; stopping it deletes all its data. `durable` and `sharedBuffers` are for benchmarks. */
export async function startTestServer({
  durable = false,
  ...memory
}: Pick<EmbeddedOptions, 'durable' | 'sharedBuffers'> = {}): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  try {
    await writeFile(join(folder, 'owner'), processIdentity(process.pid) ?? '');
    const server = await startEmbeddedPostgres({ dataDir: folder, durable, ...memory });
    return {
      url: server.url,
      async stop() {
        await server.stop();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
}

/** Stops and removes servers that killed runs of this account left behind. */
export async function removeAbandonedServers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(tmpdir(), name);
    const owner = await readFile(join(folder, 'owner'), 'utf8').catch(() => null);
    const isOurs = process.getuid === undefined || (await stat(folder).catch(() => null))?.uid === process.getuid();
    if (owner === null || !isOurs || isSameProcess(owner)) continue;
    await stopEmbeddedPostgres(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
