import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** Messages from `prepare-database.ts` to the supervisor, in this order. */
export type FromPreparation =
  | { type: 'settings'; host: string; port: number }
  | { type: 'pages'; areStale: boolean }
  | { type: 'prepared'; prepared: Prepared }
  | { type: 'failed'; message: string };

export interface ToPreparation {
  env: NodeJS.ProcessEnv;
  /** Address with the login that owns the tables; null if the apps' login owns them. */
  ownerUrl: string | null;
}

export interface Prepared {
  publicUrl: string;
  username: string;
  generatedPassword: string | null;
  mailServer: string | null;
  logLevel: string;
}

export interface Preparation {
  /** Where the API listens; resolves once every setting is valid. */
  settings: Promise<{ host: string; port: number }>;
  /** Whether a source of the pages is newer than they are; also false if the preparation fails. */
  arePagesStale: Promise<boolean>;
  /** Migrates and seeds. */
  prepare(on: ToPreparation): Promise<Prepared>;
  /** Ends it unless it has ended. */
  end(): void;
}

/**
 * Checks settings, migrates and seeds in a separate process. That loads some 200 MB of packages, which would otherwise stay in the memory
 * of the supervisor.
 */
export function startPreparation(env: NodeJS.ProcessEnv): Preparation {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'prepare-database.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env,
    // Out of reach of the terminal's Ctrl-C, which must not interrupt a migration
    detached: process.platform !== 'win32',
  });
  const settings = Promise.withResolvers<{ host: string; port: number }>();
  const arePagesStale = Promise.withResolvers<boolean>();
  const prepared = Promise.withResolvers<Prepared>();
  const fail = (message: string): void => {
    const error = new Error(message);
    arePagesStale.resolve(false);
    settings.reject(error);
    prepared.reject(error);
  };
  // They are awaited one after the other; a failure rejects both
  for (const { promise } of [settings, prepared]) promise.catch(() => {});
  child.on('message', (message: FromPreparation) => {
    if (message.type === 'settings') settings.resolve(message);
    else if (message.type === 'pages') arePagesStale.resolve(message.areStale);
    else if (message.type === 'prepared') prepared.resolve(message.prepared);
    else fail(message.message);
  });
  child.once('error', (error) => fail(`The database could not be prepared: ${error.message}`));
  child.once('close', (code, signal) =>
    fail(`The preparation of the database ended too early (${signal ?? `exit code ${code}`}).`),
  );
  return {
    settings: settings.promise,
    arePagesStale: arePagesStale.promise,
    prepare(on) {
      tell(child, on);
      return prepared.promise;
    },
    end() {
      if (child.connected) child.disconnect();
    },
  };
}

function tell(child: ChildProcess, message: ToPreparation): void {
  // A preparation that has ended has reported the reason, or its `close` event does
  if (child.connected) child.send(message, () => {});
}
