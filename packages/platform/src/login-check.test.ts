import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { testConfig } from '@portal/testing/runtime';
import { openLog } from './log.ts';
import { checkLogin, LoginError } from './login-check.ts';
import { openRuntime } from './runtime.ts';

const { url, ownerUrl } = await testDatabase();

/** The log of a process with this address. */
async function linesAt(address: string): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  const log = openLog('warn', 'script', { write: (line) => void lines.push(JSON.parse(line)) });
  const runtime = openRuntime(testConfig(address), { process: 'script', log });
  try {
    await checkLogin(runtime, AbortSignal.timeout(10_000));
  } finally {
    await runtime.close();
  }
  return lines;
}

async function asOwner(statement: string): Promise<void> {
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

it('logs nothing about the login that the migration created', async () => {
  expect(await linesAt(url)).toEqual([]);
});

it('names the excess rights of a stronger login and the SQL that fixes it, in one line', async () => {
  const [line, ...others] = await linesAt(ownerUrl);
  expect(others).toEqual([]);
  expect(line?.['msg']).toMatch(
    /is stronger than the apps need \(it (is a superuser, )?.*owns the tables or the database\).* create role portal_login login noinherit password '…'; grant portal_app, portal_across to portal_login; .* DATABASE_URL .* DATABASE_MIGRATION_URL$/,
  );
  expect(line?.['msg']).not.toContain('\n');
  expect(JSON.stringify(line)).not.toContain(new URL(ownerUrl).password);
});

describe('a login that the apps cannot use', () => {
  const name = `bare_${randomUUID().slice(0, 8)}`;
  beforeAll(() => asOwner(`create role ${name} login password 'right'`));
  afterAll(() => asOwner(`drop role ${name}`));

  it('ends the check with the SQL that fixes it or the wrong setting', async () => {
    const at = (username: string, password: string) => {
      const address = new URL(url);
      Object.assign(address, { username, password });
      return linesAt(address.href);
    };
    await expect(at(name, 'right')).rejects.toThrow(
      `The database login ${name} cannot become the roles of the apps. Run as a database administrator, then start again:\n  grant portal_app, portal_across to "${name}";`,
    );
    await expect(at(name, 'wrong')).rejects.toThrow(`refuses the login ${name}`);
    await expect(at('nobody_at_all', 'wrong')).rejects.toThrow(LoginError);
    await asOwner(`grant portal_app, portal_across to ${name}`);
    expect(await at(name, 'right')).toEqual([]);
  });
});

it('retries while the database cannot be reached, and ends on abort', async () => {
  const stopping = new AbortController();
  const runtime = openRuntime(testConfig('postgres://portal@127.0.0.1:1/portal'), {
    process: 'script',
    log: openLog('silent', 'script'),
  });
  const asking = checkLogin(runtime, stopping.signal);
  await new Promise((resolve) => setTimeout(resolve, 200));
  stopping.abort();
  await asking;
  await runtime.close();
});
