import { totalmem } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@portal/db/embedded';
import { explainFailure } from './explain-failure.ts';
import { failuresInRow, restartPauseMs } from './supervisor-pause.ts';

export interface KeptDatabase {
  /** For the apps. */
  appUrl(): string;
  /** For the migration. */
  ownerUrl(): string;
  /** Where it lies. */
  folder: string;
  stop(): Promise<void>;
}

const MiB = 1024 * 1024;

/**
 * What the database keeps of its files in memory: an eighth of what there is, 64 to 512 MB. PostgreSQL advises a quarter where it has
 * the machine to itself.
 */
export function sharedBuffersFor(bytes: number): string {
  return `${Math.min(512, Math.max(64, Math.floor(bytes / 8 / MiB)))}MB`;
}

/** Of the machine, or of the container that holds us to less. */
const memoryBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

/** Runs the embedded PostgreSQL and starts it again whenever it ends, until it is stopped. */
export async function keepDatabase(
  dataDir: string,
  { say, onMoved }: { say: (line: string) => void; onMoved: () => void },
): Promise<KeptDatabase> {
  const stopping = new AbortController();
  const options = { dataDir, sharedBuffers: sharedBuffersFor(memoryBytes()), log: say };
  let server = await startEmbeddedPostgres(options);

  async function watch(): Promise<void> {
    for (let failures = 0; ;) {
      const startedAt = performance.now();
      await server.ended;
      if (stopping.signal.aborted) return;
      failures = failuresInRow(failures, performance.now() - startedAt);
      say('PostgreSQL ended unexpectedly, it is started again.');
      // The first restart is immediate: every second without it is a second of errors
      if (failures > 1) await pause(restartPauseMs(failures - 1), undefined, { signal: stopping.signal });
      const { url } = server;
      try {
        server = await startEmbeddedPostgres(options);
        say('PostgreSQL runs again.');
      } catch (error) {
        say(`PostgreSQL could not be started. ${explainFailure(error)}`);
      }
      if (stopping.signal.aborted) return;
      if (server.url !== url) onMoved();
    }
  }

  const watched = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
  return {
    appUrl: () => server.appUrl,
    ownerUrl: () => server.url,
    folder: server.folder,
    async stop() {
      stopping.abort();
      await server.stop();
      await watched;
      // The watch may have been in the middle of a start
      await server.stop();
    },
  };
}
