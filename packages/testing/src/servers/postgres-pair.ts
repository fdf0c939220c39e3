import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { account, debianPrograms, makeCluster, makeServerFolder, serverSettings } from './debian-postgres.ts';
import { freePort, isReady } from './private-process.ts';

/** A PostgreSQL and its standby, and what a failover manager such as Patroni does with them. */
export interface PostgresPair {
  ports: readonly [number, number];
  /** Kills every process of the primary at once, as a power cut does. */
  killPrimary(): void;
  /** Makes the standby the primary, which no longer waits for a standby. */
  promote(): Promise<void>;
  /** Stops the primary, which first sends its standby everything, then promotes that. */
  switchOver(): Promise<void>;
  /** Kills every process of the standby at once: the primary's commits wait for it. */
  killStandby(): void;
  /** Has the primary no longer wait for its standby. */
  goOnAlone(): Promise<void>;
  /** Makes the server that is down a copy of the primary. From then on a commit is answered only when both have it. */
  rejoin(): Promise<void>;
  stop(): Promise<void>;
}

/** The name by which the primary knows its standby. */
const standbyName = 'standby';

const replicationSettings = ['wal_level=replica', 'max_wal_senders=4', 'hot_standby=on', 'max_connections=120'];

/** Starts two of Debian's PostgreSQL servers on 127.0.0.1 with a database `portal`, whose owner of that name needs no password. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const programs = await debianPrograms();
  const folder = await makeServerFolder();
  const ports = [await freePort(), await freePort()] as const;
  const servers: (ChildProcess | null)[] = [null, null];
  let primary: 0 | 1 = 0;
  const standby = () => (primary === 0 ? 1 : 0);
  const dataOf = (n: 0 | 1) => join(folder, `data-${n}`);
  const asClient = (n: 0 | 1) => ['--host=127.0.0.1', `--port=${ports[n]}`, '--username=portal'];
  const run = (program: string, args: string[]) =>
    promisify(execFile)(join(programs, program), args, { ...account, cwd: folder });

  async function start(n: 0 | 1): Promise<void> {
    const settings = [...serverSettings, ...replicationSettings].flatMap((setting) => ['-c', setting]);
    const server = spawn(join(programs, 'postgres'), ['-D', dataOf(n), '-p', `${ports[n]}`, ...settings], {
      ...account,
      cwd: folder,
      stdio: 'ignore',
    });
    servers[n] = server;
    const answers = () =>
      run('pg_isready', asClient(n)).then(
        () => true,
        () => false,
      );
    if (!(await isReady(server, answers))) throw new Error('PostgreSQL did not start');
  }

  async function ask<Row extends object>(n: 0 | 1, ...statements: string[]): Promise<Row[]> {
    const client = new Client({ host: '127.0.0.1', port: ports[n], user: 'portal', database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    try {
      let rows: Row[] = [];
      for (const statement of statements) ({ rows } = await client.query<Row>(statement));
      return rows;
    } finally {
      await client.end();
    }
  }
  const waitForStandby = (n: 0 | 1, name: string) =>
    ask(n, `alter system set synchronous_standby_names = '${name}'`, 'select pg_reload_conf()');

  async function promote(): Promise<void> {
    await waitForStandby(standby(), '');
    await ask(standby(), 'select pg_promote(true, 30)');
    primary = standby();
  }

  async function rejoin(): Promise<void> {
    const n = standby();
    await rm(dataOf(n), { recursive: true, force: true, maxRetries: 3 });
    const from = `host=127.0.0.1 port=${ports[primary]} user=portal application_name=${standbyName}`;
    await run('pg_basebackup', [`--dbname=${from}`, `--pgdata=${dataOf(n)}`, '-R', '--checkpoint=fast', '--no-sync']);
    await start(n);
    await waitForStandby(primary, standbyName);
    const isSynchronous = async () => {
      const rows = await ask<{ state: string }>(primary, 'select sync_state as state from pg_stat_replication');
      return rows.some(({ state }) => state === 'sync');
    };
    const server = servers[n];
    if (!server || !(await isReady(server, isSynchronous))) throw new Error('the standby does not follow');
  }

  async function stopServer(n: 0 | 1): Promise<void> {
    const server = servers[n];
    servers[n] = null;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGINT');
    await once(server, 'exit');
  }

  function kill(n: 0 | 1): void {
    const pid = servers[n]?.pid;
    servers[n] = null;
    if (pid === undefined) return;
    // A stopped parent starts no further process.
    process.kill(pid, 'SIGSTOP');
    for (const child of [...childrenOf(pid), pid]) process.kill(child, 'SIGKILL');
  }

  async function stop(): Promise<void> {
    // The standby first: the primary waits for it.
    await stopServer(standby());
    await stopServer(primary);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  try {
    await makeCluster(programs, folder, dataOf(primary));
    await start(primary);
    await run('createdb', [...asClient(primary), 'portal']);
    await ask(primary, 'create role portal_check login');
    await rejoin();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ports,
    killPrimary: () => kill(primary),
    promote,
    async switchOver() {
      await stopServer(primary);
      await promote();
    },
    killStandby: () => kill(standby()),
    goOnAlone: async () => void (await waitForStandby(primary, '')),
    rejoin,
    stop,
  };
}

/** The processes that this one started and that still run. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => {
      try {
        // The second field is the program's name in parentheses, which may hold spaces; the parent is the fourth.
        const [, parent] = readFileSync(`/proc/${candidate}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
        return Number(parent) === pid;
      } catch {
        // It ended meanwhile.
        return false;
      }
    });
}
