import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { heap, programOf, root } from '../program.ts';
import { startHaproxy, type TestHaproxy } from '../servers/haproxy.ts';
import { startObjectStore, type TestObjectStore } from '../servers/object-store.ts';
import { type PostgresPair, startPostgresPair } from '../servers/postgres-pair.ts';
import { freePort } from '../servers/private-process.ts';
import { startRedisSentinels, type TestSentinels } from '../servers/redis-sentinel.ts';
import { type ReceivedMail, startSmtpServer } from '../servers/smtp-server.ts';
import { startProgram, type WorkerProcess, workerSettings } from './worker-process.ts';

/** One of two machines, each of which runs HAProxy, an API and a worker. */
export type Machine = 'a' | 'b';
export const machines: readonly Machine[] = ['a', 'b'];
export type App = 'api' | 'worker';

export interface House {
  haproxy: Record<Machine, TestHaproxy>;
  postgres: PostgresPair;
  redis: TestSentinels;
  files: TestObjectStore;
  /** Kills the program; it starts again after the pause of a supervisor. */
  killProgram(app: App, machine: Machine): Promise<void>;
  /** Stops the program in good order, and starts it from the checkout that `use` set. */
  replaceProgram(app: App, machine: Machine): Promise<void>;
  /** Migrates the database with the release of this checkout, which every later start takes. */
  upgrade(): Promise<void>;
  /** Programs that ended although nobody ended them. */
  crashed: string[];
  /** Mails in the order of their arrival. */
  mails: { mail: ReceivedMail; at: number }[];
  close(): Promise<void>;
}

export const adminPassword = 'soak of two machines';

interface HouseOptions {
  /** The release that runs until `upgrade`; this checkout by default. */
  from?: URL;
  /** Folder for the logs of the programs. */
  logs?: string | undefined;
}

/** Starts everything on 127.0.0.1, with the commands that an operator uses. Its first administrator has the password above. */
export async function startHouse({ from = root, logs }: HouseOptions = {}): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-machines-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 3 })];
  /** Stops in the opposite order of the start. */
  async function close(): Promise<void> {
    for (let closer = closers.pop(); closer; closer = closers.pop()) await closer();
    for (const signal of signals) process.off(signal, stop);
  }
  // A long run that is stopped leaves no server behind.
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const stop = () => void close().finally(() => process.exit(1));
  for (const signal of signals) process.once(signal, stop);
  try {
    const mails: House['mails'] = [];
    const smtp = await startSmtpServer({ onMessage: (mail) => void mails.push({ mail, at: performance.now() }) });
    closers.push(smtp.stop);
    const redis = await startRedisSentinels();
    closers.push(redis.stop);
    const files = await startObjectStore();
    closers.push(files.stop);
    const postgres = await startPostgresPair();
    closers.push(postgres.stop);
    const apiPorts = [await freePort(), await freePort()] as const;
    const servers = { apis: apiPorts, databases: postgres.ports };
    const haproxy = { a: await startHaproxy(servers), b: await startHaproxy(servers) };
    closers.push(haproxy.a.stop, haproxy.b.stop);

    let checkout = from;
    const database = (login: string, machine: Machine) =>
      `postgres://${login}@127.0.0.1:${haproxy[machine].databasePort}/portal`;
    const env = (machine: Machine): Record<string, string> => ({
      ...workerSettings({
        databaseUrl: database('portal_login:soak', machine),
        redisUrl: redis.url,
        smtpPort: smtp.port,
      }),
      PORT: `${apiPorts[machine === 'a' ? 0 : 1]}`,
      PUBLIC_URL: `http://127.0.0.1:${haproxy.a.port}`,
      TRUST_PROXY: '127.0.0.1',
      ...files.env('files'),
      DATA_DIR: join(folder, machine),
      DATABASE_POOL_MAX: '5',
      WEB_DIR: '',
      ...(logs !== undefined && { LOG_LEVEL: 'info' }),
    });
    const script = async (name: string) => {
      const settings = {
        ...env('a'),
        DATABASE_MIGRATION_URL: database('portal', 'a'),
        SEED_ADMIN_PASSWORD: adminPassword,
      };
      const program = programOf(`scripts/${name}.ts`, settings, [], checkout);
      await promisify(execFile)(program.command, program.args, { env: program.env });
    };
    await script('migrate');
    await script('seed');

    const programs = new Map<string, WorkerProcess>();
    const crashed: string[] = [];
    closers.push(async () => {
      const running = [...programs.values()];
      programs.clear();
      for (const { child } of running) child.kill('SIGTERM');
      await Promise.all(running.map(({ ended }) => ended));
    });
    async function start(app: App, machine: Machine): Promise<void> {
      const log = logs === undefined ? undefined : await open(join(logs, `${app}-${machine}.log`), 'a');
      const started = startProgram(`apps/${app}/src/main.ts`, env(machine), {
        nodeOptions: heap[app],
        checkout,
        ...(log && { log: log.fd }),
      });
      await log?.close();
      programs.set(app + machine, started);
      void started.ended.then(() => {
        if (programs.get(app + machine) === started) crashed.push(`${app} ${machine}`);
      });
      await Promise.race([once(started.child, 'message'), started.unexpectedEnd]);
    }
    async function restart(app: App, machine: Machine): Promise<void> {
      await start(app, machine);
      if (app === 'api') await Promise.all(machines.map((each) => haproxy[each].waitForApi(machine)));
    }
    async function end(app: App, machine: Machine, signal: NodeJS.Signals): Promise<void> {
      const running = programs.get(app + machine);
      programs.delete(app + machine);
      running?.child.kill(signal);
      await running?.ended;
    }
    for (const app of ['api', 'worker'] as const) await Promise.all(machines.map((machine) => start(app, machine)));

    return {
      haproxy,
      postgres,
      redis,
      files,
      async killProgram(app, machine) {
        await end(app, machine, 'SIGKILL');
        await pause(restartMs);
        await restart(app, machine);
      },
      async replaceProgram(app, machine) {
        await end(app, machine, 'SIGTERM');
        await restart(app, machine);
      },
      async upgrade() {
        checkout = root;
        await script('migrate');
      },
      crashed,
      mails,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The pause of a supervisor before it starts a killed program again. */
const restartMs = 1_000;
