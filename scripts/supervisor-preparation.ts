import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** What the supervisor and `prepare-database.ts` say to each other, in this order. */
export type FromPreparation =
  | { type: 'settings'; host: string; port: number }
  | { type: 'prepared'; prepared: Prepared }
  | { type: 'failed'; message: string };

export interface ToPreparation {
  env: NodeJS.ProcessEnv;
  /** Login that owns the tables; null where the apps' own does. */
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
  /** Where the API listens, once every setting was found right. */
  settings: Promise<{ host: string; port: number }>;
  /** Migrates and seeds. */
  prepare(on: ToPreparation): Promise<Prepared>;
  /** Ends it unless it has ended. */
  end(): void;
}

/**
 * Checks settings, migrates and seeds in a process of its own. What that takes is some 200 MB of packages, which would otherwise stay
 * with the supervisor for as long as it runs.
 */
export function startPreparation(env: NodeJS.ProcessEnv): Preparation {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'prepare-database.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env,
    // Out of reach of the terminal's Ctrl-C, so that no migration is cut short
    detached: process.platform !== 'win32',
  });
  const settings = Promise.withResolvers<{ host: string; port: number }>();
  const prepared = Promise.withResolvers<Prepared>();
  const fail = (message: string): void => {
    const error = new Error(message);
    settings.reject(error);
    prepared.reject(error);
  };
  // Each is awaited in its turn; a failure of the first one is that of both
  for (const { promise } of [settings, prepared]) promise.catch(() => {});
  child.on('message', (message: FromPreparation) => {
    if (message.type === 'settings') settings.resolve(message);
    else if (message.type === 'prepared') prepared.resolve(message.prepared);
    else fail(message.message);
  });
  child.once('error', (error) => fail(`The database could not be prepared: ${error.message}`));
  child.once('close', (code, signal) =>
    fail(`The preparation of the database ended too early (${signal ?? `exit code ${code}`}).`),
  );
  return {
    settings: settings.promise,
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
  // One that has ended has said why, or its end says it
  if (child.connected) child.send(message, () => {});
}
