import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { advisoryLocks } from './advisory-locks.ts';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from './embedded.ts';
import { migrateDatabase } from './migrate.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portal-embedded-'));
  if (process.getuid?.() === 0) await chmod(folder, 0o711);
});

afterEach(async () => {
  await stopEmbeddedPostgres(folder);
  await rm(folder, { recursive: true, force: true });
});

const start = () => startEmbeddedPostgres({ dataDir: folder, durable: false });

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A process that starts the server and runs until it is killed. */
function spawnStarter() {
  const program = `
    import { startEmbeddedPostgres } from ${JSON.stringify(new URL('embedded.ts', import.meta.url).href)};
    const { url } = await startEmbeddedPostgres({ dataDir: process.argv[1], durable: false });
    console.log(url);
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '--eval', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const serverPid = async () => Number.parseInt(await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);

describe('the embedded PostgreSQL', () => {
  it('starts in an empty folder, with German sorting and search', async () => {
    const server = await start();
    const [row] = await query<{ sorted: string; stem: string; zone: string }>(
      server.url,
      `select string_agg(w, ' ' order by w) as sorted, to_tsvector('Häuser')::text as stem, current_setting('timezone') as zone
       from unnest(array['Zoo', 'Öl', 'Ofen', 'apfel']) w`,
    );
    expect(row).toEqual({ sorted: 'apfel Ofen Öl Zoo', stem: "'haus':1", zone: 'UTC' });
    expect(server.adopted).toBe(false);
  });

  it('keeps data, address and password over a restart', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('lets the apps in once it is migrated, also in a folder from a release with one login', async () => {
    const before = await start();
    await migrateDatabase(before.url);
    await before.stop();
    await rm(join(folder, 'app-password'));

    const server = await start();
    await migrateDatabase(server.url, { appUrl: server.appUrl });
    const looking = `select session_user as login, rolsuper as mighty from pg_roles where rolname = session_user`;
    expect(await query(server.appUrl, looking)).toEqual([{ login: 'portal_login', mighty: false }]);
    const file = await stat(join(folder, 'app-password'));
    if (process.platform !== 'win32') expect(file.mode & 0o777).toBe(0o600);
    await server.stop();

    const again = await start();
    expect(again.appUrl).toBe(server.appUrl);
    expect(await query(again.appUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('refuses a wrong password', async () => {
    const { url } = await start();
    const forged = new URL(url);
    forged.password = 'guess';
    await expect(query(forged.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('is adopted after its starter was killed, and the adopter can stop it', async () => {
    const starter = spawnStarter();
    const [printed] = await once(starter.stdout, 'data');
    await kill(starter);
    const server = await start();
    expect(server).toMatchObject({ adopted: true, url: String(printed).trim() });
    await query(server.url, 'select 1');
    await server.stop();
    await server.ended;
    await expect(query(server.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('reports when it was killed, and comes back at the same address with all committed data', async () => {
    const first = await start();
    await query(first.url, 'create table committed as select 7 as number');
    process.kill(await serverPid(), 'SIGKILL');
    await first.ended;
    const second = await start();
    expect(second).toMatchObject({ adopted: false, url: first.url });
    expect(await query(second.url, 'select number from committed')).toEqual([{ number: 7 }]);
  });

  it('says why it gave up its connections, such as for a full disk, and only since its last start', async () => {
    const first = await start();
    expect(await first.panic()).toBeNull();
    // As PostgreSQL 18 wrote it on a full disk, which no test can make
    const line =
      '2026-11-26 23:05:40.974 UTC [7511] PANIC:  could not write to file "pg_wal/x": No space left on device\n';
    await appendFile(join(folder, 'server.log'), line);
    expect(await first.panic()).toBe('could not write to file "pg_wal/x": No space left on device');
    await first.stop();
    expect(await (await start()).panic()).toBeNull();
  });

  it('fails a migration whose connection breaks without a word', async () => {
    const { url } = await start();
    const holder = new Client({ connectionString: url });
    // It breaks as well: the server starts anew after a crash of any of its processes.
    holder.on('error', () => undefined);
    await holder.connect();
    await holder.query('select pg_advisory_lock($1)', [advisoryLocks.migration]);
    const migrating = migrateDatabase(url);
    migrating.catch(() => undefined);
    const waiting = `application_name = 'portal-migrate' and wait_event_type = 'Lock'`;
    const pid = await vi.waitFor(async () => {
      const [found] = await query<{ pid: number }>(url, `select pid from pg_stat_activity where ${waiting}`);
      return found?.pid ?? expect.fail('it does not wait yet');
    }, 10_000);
    process.kill(pid, 'SIGKILL');
    await expect(migrating).rejects.toThrow('Connection terminated unexpectedly');
    await vi.waitFor(() => migrateDatabase(url), 20_000);
  });

  it('starts cleanly after a start that was killed halfway', async () => {
    const starter = spawnStarter();
    while (!(await readdir(folder)).some((name) => /^data\.new-\d+$/.test(name))) await pause(5);
    await kill(starter);
    const server = await start();
    expect(await query(server.url, 'select current_database() as name')).toEqual([{ name: 'portal' }]);
    expect((await readdir(folder)).filter((name) => name.startsWith('data'))).toEqual(['data']);
  });

  it.runIf(process.platform === 'linux')(
    'does not take an unrelated process with a reused id for the server',
    async () => {
      const first = await start();
      const pidFile = await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8');
      await first.stop();
      await writeFile(join(folder, 'data', 'postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)));
      const second = await start();
      expect(second.adopted).toBe(false);
      await query(second.url, 'select 1');
    },
  );

  it('takes another port if the previous one is in use', async () => {
    const first = await start();
    await first.stop();
    const other = join(folder, 'other');
    await mkdir(other);
    await writeFile(join(other, 'port'), new URL(first.url).port);
    await start();
    const neighbour = await startEmbeddedPostgres({ dataDir: other, durable: false });
    expect(new URL(neighbour.url).port).not.toBe(new URL(first.url).port);
    await query(neighbour.url, 'select 1');
    await neighbour.stop();
  });

  it('names the version of a folder it cannot read', async () => {
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'data', 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow(/was made by PostgreSQL 17, but this is PostgreSQL 18/);
  });

  it.runIf(process.getuid?.() === 0)('stores its data elsewhere if its account cannot enter the folder', async () => {
    await chmod(folder, 0o700);
    const dataDir = join(folder, 'closed', 'postgres');
    await mkdir(join(folder, 'closed'), { mode: 0o700 });
    const first = await startEmbeddedPostgres({ dataDir, durable: false });
    await query(first.url, 'create table kept as select 1 as one');
    await first.stop();
    const second = await startEmbeddedPostgres({ dataDir, durable: false });
    expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
    await second.stop();
    await rm((await readFile(join(dataDir, 'location'), 'utf8')).trim(), { recursive: true });
  });
});
