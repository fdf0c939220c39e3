import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { noSources } from '../no-sources.ts';
import { programOf } from '../program.ts';

export interface WorkerProcess {
  child: ChildProcess;
  ended: Promise<unknown>;
  /** Rejects when the process ends. Race it only while the process must run. */
  unexpectedEnd: Promise<never>;
}

/** Settings of a worker that sends mails to this port of this machine, with throw-away keys. */
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

/** Starts the real worker as a process. */
export const startWorkerProcess = (env: Record<string, string>, nodeOptions: string[] = []): WorkerProcess =>
  startProgram('apps/worker/src/main.ts', env, { nodeOptions });

interface ProgramOptions {
  nodeOptions?: readonly string[];
  /** Command that starts the program. */
  under?: readonly string[];
  /** Folder of the release to start; this checkout by default. */
  checkout?: URL;
  /** Descriptor of a file for the program's log. */
  log?: number;
}

/** Starts one of our programs, by its path in the checkout. The program ends with this process. */
export function startProgram(
  path: string,
  settings: Record<string, string>,
  { nodeOptions = [], under = [], checkout, log }: ProgramOptions = {},
): WorkerProcess {
  const program = programOf(path, settings, nodeOptions, checkout);
  const [command = process.execPath, ...args] = [...under, program.command, ...program.args];
  const child = spawn(command, args, { env: program.env, stdio: ['ignore', log ?? 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  const unexpectedEnd = ended.then(([code]) => {
    throw new Error(`the worker ended unexpectedly with code ${String(code)}`);
  });
  // Callers handle the rejection only while the worker must run.
  unexpectedEnd.catch(() => undefined);
  return { child, ended, unexpectedEnd };
}
