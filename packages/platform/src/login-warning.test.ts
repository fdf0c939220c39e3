import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { testConfig } from '@portal/testing/runtime';
import { openLog } from './log.ts';
import { warnOfStrongLogin } from './login-warning.ts';
import { openRuntime } from './runtime.ts';

const { url, ownerUrl } = await testDatabase();

/** What a process with this address logs about its login. */
async function linesAt(address: string): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  const log = openLog('warn', 'script', { write: (line) => void lines.push(JSON.parse(line)) });
  const runtime = openRuntime(testConfig(address), { process: 'script', log });
  await warnOfStrongLogin(runtime, AbortSignal.timeout(10_000));
  await runtime.close();
  return lines;
}

it('says nothing about the login the migration made', async () => {
  expect(await linesAt(url)).toEqual([]);
});

it('names what is wrong with a stronger one and the SQL that mends it, in one line', async () => {
  const [line, ...others] = await linesAt(ownerUrl);
  expect(others).toEqual([]);
  expect(line?.['msg']).toMatch(
    /is stronger than the apps need \(it (is a superuser, )?.*owns the tables or the database\).* create role portal_login login noinherit password '…'; grant portal_app, portal_across to portal_login; .* DATABASE_URL .* DATABASE_MIGRATION_URL$/,
  );
  expect(line?.['msg']).not.toContain('\n');
  expect(JSON.stringify(line)).not.toContain(new URL(ownerUrl).password);
});

it('goes on asking while the database is away, and ends when the process does', async () => {
  const stopping = new AbortController();
  const runtime = openRuntime(testConfig('postgres://portal@127.0.0.1:1/portal'), {
    process: 'script',
    log: openLog('silent', 'script'),
  });
  const asking = warnOfStrongLogin(runtime, stopping.signal);
  await new Promise((resolve) => setTimeout(resolve, 200));
  stopping.abort();
  await asking;
  await runtime.close();
});
