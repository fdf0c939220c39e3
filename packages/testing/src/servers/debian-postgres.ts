import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { serviceBinary } from '../services.ts';
import { freePort, isReady } from './private-process.ts';

export interface DebianPostgres {
  port: number;
  /** Address of the database `portal` with the login of that name, which owns everything. */
  ownerUrl: string;
  /** Folder of its programs: `pg_dump` must have the server's version. */
  programs: string;
  stop(): Promise<void>;
}

/** The server does not run as root, so Debian's account without files runs it. */
export const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folder of Debian's programs. Resolves a link, which need not have the other programs beside it. */
export async function debianPrograms(): Promise<string> {
  const initdb = serviceBinary('initdb');
  if (!initdb) throw new Error('initdb is not installed');
  return dirname(await realpath(initdb));
}

/** Makes a folder that only the server's account may enter. */
export async function makeServerFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-postgres-'));
  await chmod(folder, 0o700);
  if (account.uid !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

/** Makes a cluster like that of the image of docker-compose.yml, whose superuser `portal` needs no password. */
export async function makeCluster(programs: string, folder: string, data: string): Promise<void> {
  const collation = ['--locale-provider=icu', '--icu-locale=de-DE', '--encoding=UTF8', '--locale=C.UTF-8'];
  const options = ['-D', data, '-U', 'portal', '-A', 'trust', '--no-sync', ...collation];
  await promisify(execFile)(join(programs, 'initdb'), options, { ...account, cwd: folder });
}

/** For tests: nothing reaches the disk for certain, and there is no socket file. */
export const serverSettings = ['fsync=off', 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'jit=off'];

/** Starts Debian's PostgreSQL as a private process on 127.0.0.1, set up like the image of docker-compose.yml. It needs no password. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const programs = await debianPrograms();
  const folder = await makeServerFolder();
  const data = join(folder, 'data');
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    await makeCluster(programs, folder, data);
    // Chosen as late as possible, before another process takes it
    const port = await freePort();
    const server = spawn(
      join(programs, 'postgres'),
      ['-D', data, '-p', String(port), ...serverSettings.flatMap((setting) => ['-c', setting])],
      { ...account, cwd: folder, stdio: 'ignore' },
    );
    const stop = async () => {
      if (server.exitCode === null && server.signalCode === null) {
        server.kill('SIGINT');
        await once(server, 'exit');
      }
      await remove();
    };
    const run = (program: string, ...args: string[]) =>
      promisify(execFile)(join(programs, program), [
        '--host=127.0.0.1',
        `--port=${port}`,
        '--username=portal',
        ...args,
      ]);
    // The server accepts connections shortly before it answers them
    const answers = () =>
      run('pg_isready').then(
        () => true,
        () => false,
      );
    if (!(await isReady(server, answers))) {
      await stop();
      throw new Error('PostgreSQL did not start');
    }
    await run('createdb', 'portal');
    return { port, ownerUrl: `postgres://portal@127.0.0.1:${port}/portal`, programs, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}
