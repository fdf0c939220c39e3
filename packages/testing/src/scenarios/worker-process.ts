import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { noSources } from '../no-sources.ts';
import { programOf } from '../program.ts';

export interface WorkerProcess {
  child: ChildProcess;
  ended: Promise<unknown>;
  /** Rejects when it ended without having been told to. */
  endedByItself: Promise<never>;
}

/** Settings of a worker whose mail goes to this port of this machine; keys of no value beyond a run. */
export const workerSettings = (options: {
  databaseUrl: string;
  redisUrl: string | null;
  smtpPort: number;
}): Record<string, string> => ({
  DATABASE_URL: options.databaseUrl,
  ...(options.redisUrl === null ? {} : { REDIS_URL: options.redisUrl }),
  SESSION_SECRET: `soak:${Buffer.alloc(32).toString('base64')}`,
  SECRETS_KEYS: `soak:${Buffer.alloc(32, 1).toString('base64')}`,
  SMTP_HOST: '127.0.0.1',
  SMTP_PORT: `${options.smtpPort}`,
  SMTP_SECURITY: 'none',
  SMTP_FROM: 'portal@example.org',
  MAIL_DAILY_PER_TENANT: '1000000',
  LOG_LEVEL: 'silent',
  ...noSources,
});

/** The real worker as a process. */
export const startWorkerProcess = (env: Record<string, string>, nodeOptions: string[] = []): WorkerProcess =>
  startProgram('apps/worker/src/main.ts', env, nodeOptions);

/** One of our programs, by its path below the checkout, as a process, started by `under` if need be. The channel ends with this process, and with it the program. */
export function startProgram(
  path: string,
  settings: Record<string, string>,
  nodeOptions: string[] = [],
  under: readonly string[] = [],
): WorkerProcess {
  const program = programOf(path, settings, nodeOptions);
  const [command = process.execPath, ...args] = [...under, program.command, ...program.args];
  const child = spawn(command, args, { env: program.env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const endedByItself = ended.then(([code]) => {
    throw new Error(`the worker ended by itself with code ${String(code)}`);
  });
  // Looked at only while the worker is meant to run.
  endedByItself.catch(() => undefined);
  return { child, ended, endedByItself };
}
