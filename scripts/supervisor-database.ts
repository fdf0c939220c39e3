import { totalmem } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@portal/db/embedded';
import { explainFailure } from './explain-failure.ts';
import { failuresInRow, restartPauseMs } from './supervisor-pause.ts';

export interface SupervisedDatabase {
  /** Address with the login of the apps. */
  appUrl(): string;
  /** Address with the login of the migration. */
  ownerUrl(): string;
  /** Its data folder. */
  folder: string;
  /** Why it gave up its connections since its last start; null if it did not. */
  panic(): Promise<string | null>;
  stop(): Promise<void>;
}

const MiB = 1024 * 1024;

/**
 * `shared_buffers`: an eighth of the memory, 64 to 512 MB. PostgreSQL advises a quarter for a machine of its own.
 */
export function sharedBuffersFor(bytes: number): string {
  return `${Math.min(512, Math.max(64, Math.floor(bytes / 8 / MiB)))}MB`;
}

/** Memory of the machine, or the lower limit of the container. */
const memoryBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** Runs the embedded PostgreSQL and restarts it each time it ends, until `stop`. */
export async function superviseDatabase(
  dataDir: string,
  { say, onMoved }: { say: (line: string) => void; onMoved: () => void },
): Promise<SupervisedDatabase> {
  const stopping = new AbortController();
  const options = { dataDir, sharedBuffers: sharedBuffersFor(memoryBytes()), log: say };
  let server = await startEmbeddedPostgres(options);

  async function watch(): Promise<void> {
    for (let failures = 0; ;) {
      const startedAt = performance.now();
      await server.ended;
      if (stopping.signal.aborted) return;
      failures = failuresInRow(failures, performance.now() - startedAt);
      say('PostgreSQL ended unexpectedly. Restarting it.');
      // The first restart is immediate: every second without a database is a second of errors
      if (failures > 1) await pause(restartPauseMs(failures - 1), undefined, { signal: stopping.signal });
      const { url } = server;
      try {
        server = await startEmbeddedPostgres(options);
        say('PostgreSQL is running again.');
      } catch (error) {
        say(`PostgreSQL could not be started. ${explainFailure(error)}`);
      }
      if (stopping.signal.aborted) return;
      if (server.url !== url) onMoved();
    }
  }

  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    appUrl: () => server.appUrl,
    ownerUrl: () => server.url,
    folder: server.folder,
    panic: () => server.panic(),
    async stop() {
      stopping.abort();
      await server.stop();
      await watching;
      // The loop may have been in the middle of a restart
      await server.stop();
    },
  };
}
