import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOfDatabase, digestOfFiles } from '@portal/testing/digests';
import { noSources } from '@portal/testing/no-sources';
import { programEnv } from '@portal/testing/program';
import { type DebianPostgres, startDebianPostgres } from '@portal/testing/servers/debian-postgres';
import { serviceBinary } from '@portal/testing/services';
import { commandsOf, scripts } from './document-commands.ts';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** Output and exit code of a command. */
const outcomeOf = (file: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }) =>
  run(file, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, output: stdout + stderr }),
  );

/**
 * Stands in for Docker: runs the command of a container on this machine, with its PostgreSQL and with the folder of the volume in place
 * of `/data`. It only logs `up`.
 */
const docker = (volume: string, callLog: string) => `#!/bin/bash
echo "$*" >>'${callLog}'
shift
case "$1" in
  up) exit ;;
  exec | run) shift ;;
  *) exit 64 ;;
esac
while [[ "$1" == -* ]]; do shift; done
service="$1"
shift
if [ "$service" = migrate ] && [ $# = 0 ]; then set -- node scripts/migrate.ts; fi
exec "\${@/#\\/data/${volume}}"
`;

describe.runIf(process.platform === 'linux' && serviceBinary('initdb') !== null)(
  'a backup of the containers by docs/operating.md',
  { timeout: 240_000 },
  () => {
    let folder: string;
    let server: DebianPostgres;
    let env: NodeJS.ProcessEnv;
    const files = () => join(folder, 'files');
    const port = String(10_000 + (process.pid % 250) * 16);
    const here = (commands: string) =>
      commands.replaceAll(/\b(portal\.dump|files\.tar\.gz)\b/g, (name) => join(folder, name));
    const shell = (commands: string) => run('bash', ['--norc', '-ec', here(commands)], { cwd: root, env });
    const demo = (...args: string[]) =>
      outcomeOf('bash', ['--norc', '-c', `${scripts['demo']} --port ${port} ${args.join(' ')}`], { cwd: root, env });

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'portal-test-backup-'));
      await mkdir(files());
      const bin = join(folder, 'bin');
      await mkdir(bin);
      await writeFile(join(bin, 'docker'), docker(files(), join(folder, 'docker-calls')), { mode: 0o755 });
      server = await startDebianPostgres();
      const key = (fill: number) => `test:${Buffer.alloc(32, fill).toString('base64')}`;
      env = {
        ...programEnv,
        PATH: `${bin}:${server.programs}:${process.env['PATH']}`,
        PGHOST: '127.0.0.1',
        PGPORT: String(server.port),
        DATABASE_MIGRATION_URL: server.ownerUrl,
        DATABASE_URL: server.ownerUrl.replace('portal@', 'portal_login:a-password@'),
        SESSION_SECRET: key(0),
        SECRETS_KEYS: key(1),
        DATA_DIR: files(),
        LOG_LEVEL: 'error',
        ...noSources,
      };
      await shell('docker compose run --rm migrate');
      const { code, output } = await demo();
      if (code !== 0) throw new Error(output);
    }, 240_000);

    afterAll(async () => {
      await server?.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    });

    it('equals the original in every table and file after the restore, and sends no old mail', async () => {
      const [, backUp = '', restore = ''] = commandsOf('docs/operating.md').filter((block) => block.includes('docker'));
      const before = { database: await digestOfDatabase(server.ownerUrl), files: await digestOfFiles(files()) };
      expect(Object.keys(before.files).length).toBeGreaterThan(5);
      await shell(`umask 022\n${backUp}`);
      for (const name of ['portal.dump', 'files.tar.gz'])
        expect([name, (await stat(join(folder, name))).mode & 0o777]).toEqual([name, 0o600]);
      await rm(files(), { recursive: true });
      await mkdir(files());
      await loseDatabase();

      const lines = restore.trim().split('\n');
      const at = lines.findIndex((line) => line.includes('migrate'));
      await shell(lines.slice(0, at).join('\n'));
      expect(await digestOfDatabase(server.ownerUrl)).toEqual(before.database);
      expect(await digestOfFiles(files())).toEqual(before.files);

      const wrongKeys = { ...env, SECRETS_KEYS: `other:${Buffer.alloc(32, 2).toString('base64')}` };
      await shell(lines[at] ?? '');
      const keyless = await outcomeOf(process.execPath, ['scripts/after-restore.ts'], { cwd: root, env: wrongKeys });
      expect(keyless.code).toBe(1);
      for (const column of ['monitored_servers.tokenSecret', 'ldap_configs.bindPassword', 'calendar_sources.url'])
        expect(keyless.output).toContain(`${column}: `);
      expect(keyless.output).toMatch(/mails: [1-9]\d* will not be sent again/);

      const { stdout } = await shell(lines.slice(at).join('\n'));
      expect(stdout).toContain('mails: 0 will not be sent again\nEvery stored secret can be read.');
      expect(await unsentMails()).toBe(0);
      // The documented order starts the apps only after that command.
      expect(lines.findIndex((line) => line.includes('after-restore'))).toBeLessThan(
        lines.indexOf('docker compose up --detach'),
      );
    });

    it('gets the demo only without other tenants, or with --force twice', async () => {
      await query(`with other as (insert into tenants (id, name) values (gen_random_uuid(), 'Nachbarn') returning id)
        insert into users (id, tenant_id, username, role) select gen_random_uuid(), id, 'nachbar', 'USER' from other`);
      const once = await demo('--force');
      expect(once.code).toBe(1);
      expect(once.output).toContain('This database has accounts of other tenants, for example of Nachbarn.');
      expect(await demo('--force', '--force')).toMatchObject({
        code: 0,
        output: expect.stringContaining('already existed'),
      });
    });

    const query = async (sql: string, database = 'portal') => {
      const client = new Client({ connectionString: server.ownerUrl.replace(/portal$/, database) });
      await client.connect();
      try {
        return (await client.query<{ count: string }>(sql)).rows;
      } finally {
        await client.end();
      }
    };
    const unsentMails = async () =>
      Number((await query(`select count(*) from mails where state in ('queued', 'sending')`))[0]?.count);

    /** Leaves an empty database on a server without roles of the product. */
    async function loseDatabase(): Promise<void> {
      await query('drop database portal', 'postgres');
      for (const role of ['portal_login', 'portal_app', 'portal_across']) await query(`drop role ${role}`, 'postgres');
      await query('create database portal', 'postgres');
    }
  },
);
