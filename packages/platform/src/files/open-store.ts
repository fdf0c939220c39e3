import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { openFolderStore } from './folder-store.ts';
import type { FileStore } from './store.ts';

/** The store that the settings name: a folder below `DATA_DIR`, or an object store. */
export const openFileStore = (
  config: Pick<Config, 'dataDir' | 'objectStore'>,
  log: Pick<Log, 'warn'>,
  metrics: Pick<Metrics, 'countStoreFault'>,
): FileStore =>
  config.objectStore === null ? openFolderStore(config.dataDir) : openLater(config.objectStore, log, metrics);

/** Loads the client of object stores with the first call, so that a service without one starts no slower. */
function openLater(
  settings: NonNullable<Config['objectStore']>,
  log: Pick<Log, 'warn'>,
  metrics: Pick<Metrics, 'countStoreFault'>,
): FileStore {
  let opening: Promise<FileStore> | null = null;
  const opened = (): Promise<FileStore> =>
    (opening ??= import('./object-store.ts').then(({ openObjectStore }) =>
      openObjectStore(settings, log, { onFault: metrics.countStoreFault }),
    ));
  return {
    write: async (...args) => (await opened()).write(...args),
    open: async (...args) => (await opened()).open(...args),
    remove: async (path) => (await opened()).remove(path),
    async *list(...args) {
      yield* (await opened()).list(...args);
    },
    close: async () => (await opening)?.close(),
  };
}
