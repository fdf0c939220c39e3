import { execFile } from 'node:child_process';
import { sql } from 'drizzle-orm';
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { testDatabase } from '@portal/testing/database';
import { programOf } from '@portal/testing/program';

// Each first start has its own unseeded database.
const [usual, lapsed, given] = [await testDatabase(), await testDatabase(), await testDatabase()];

const key = `k1:${Buffer.alloc(32).toString('base64')}`;
const keys = { SESSION_SECRET: key, SECRETS_KEYS: key };
const unreachable = 'postgres://portal:hidden@127.0.0.1:1/portal';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Changes the only account. */
async function change(url: string, set: PgUpdateSetSource<typeof users>): Promise<void> {
  const opened = openDatabase({ url, poolMax: 1, applicationName: 'test' });
  await opened.acrossTenants('a test changes a row', (tx) => tx.update(users).set(set));
  await opened.close();
}

const run = (name: 'migrate' | 'seed', env: Record<string, string>): Promise<Ended> => {
  const program = programOf(`scripts/${name}.ts`, env);
  return new Promise((resolve) => {
    execFile(program.command, program.args, { env: program.env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
};

describe('pnpm migrate', () => {
  it('does nothing to a database that is up to date', async () => {
    expect(await run('migrate', { DATABASE_URL: usual.url, DATABASE_MIGRATION_URL: usual.ownerUrl })).toEqual({
      code: 0,
      stdout: 'The database is up to date.\n',
      stderr: '',
    });
  });

  it('needs the address of a database', async () => {
    expect(await run('migrate', {})).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DATABASE_URL must be set/),
    });
    expect(await run('migrate', { DATABASE_URL: 'mysql://x' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^DATABASE_URL must be postgres:/),
    });
  });

  it('says why it cannot reach the server, without the password', async () => {
    const { code, stderr } = await run('migrate', { DATABASE_URL: unreachable });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The database was not migrated\. .*ECONNREFUSED/);
    expect(stderr).not.toContain('hidden');
    expect(stderr).not.toContain('    at ');
  });
});

describe('pnpm seed', () => {
  it('creates the first administrator and shows the password once', async () => {
    const seed = () => run('seed', { DATABASE_URL: usual.url, ...keys });
    const first = await seed();
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/username {2}admin\n {2}password {2}\S{16,} {3}\(shown this once\)\n$/);
    expect(await seed()).toEqual({ code: 0, stdout: 'Nothing to do: the database is not empty.\n', stderr: '' });
  });

  it('generates a new password if the first one has expired and no other account exists', async () => {
    const seed = () => run('seed', { DATABASE_URL: lapsed.url, ...keys });
    const passwordIn = ({ stdout }: Ended) => /password {2}(\S{16,})/.exec(stdout)?.[1];
    expect(passwordIn(await seed())).toBeDefined();
    await change(lapsed.url, { temporaryPasswordUntil: sql`now()` });
    const late = await seed();
    expect(passwordIn(late)).toBeDefined();
    expect(passwordIn(await seed())).toBeUndefined();
    // A password that the user chose stays, even if the row has an expiry.
    await change(lapsed.url, { temporaryPasswordUntil: sql`now()`, mustChangePassword: false });
    expect(passwordIn(await seed())).toBeUndefined();
  });

  it('does not show a password from the settings', async () => {
    const password = 'seven calm otters';
    const { code, stdout } = await run('seed', {
      DATABASE_URL: given.url,
      SEED_ADMIN_PASSWORD: password,
      ...keys,
    });
    expect(code).toBe(0);
    expect(stdout).toContain('the one in SEED_ADMIN_PASSWORD');
    expect(stdout).not.toContain(password);
  });

  it('names every invalid setting', async () => {
    const { code, stderr } = await run('seed', { DATABASE_URL: usual.url });
    expect(code).toBe(1);
    expect(stderr).toContain('SESSION_SECRET: must be set');
    expect(stderr).toContain('SECRETS_KEYS: must be set');
  });

  it('asks for the migration if the tables are missing', async () => {
    const empty = new URL(usual.url);
    empty.pathname = '/postgres';
    const { code, stderr } = await run('seed', { DATABASE_URL: empty.href, ...keys });
    expect(code).toBe(1);
    expect(stderr).toBe('Nothing was seeded. The tables are missing: run `pnpm migrate` first.\n');
  });
});
