// 10,000 reminder mails due at one moment against the same number of mails over raw pooled SMTP; and the API in the meantime
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { openDatabase } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { builders } from '@portal/testing/make';
import { heap } from '@portal/testing/program';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { startCountingServer } from './counting-smtp-server.ts';
import { benchDatabase, benchSettings, percentile, report, startServer, stopAll } from './measure.ts';

const count = Number(process.argv[2] ?? 10_000);
const people = 1_000;
const quietMs = 15_000;
/** Time to write the rows and to become idle. */
const leadMs = 20_000;

const smtp = await startCountingServer();
const children: ChildProcess[] = [];

try {
  const { url, folder } = await benchDatabase();
  const settings = {
    ...benchSettings(url, join(folder, 'data')),
    ...smtp.settings(count),
  };
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const { id: tenantId } = await make.tenant();
  const accounts = Array.from({ length: people }, (_, n) => {
    const id = newId();
    return { id, tenantId, username: `person-${n}`, email: `person-${n}@example.org` };
  });
  await database.acrossTenants('the benchmark makes accounts', (tx) => tx.insert(users).values(accounts));
  const { sessionKeys } = readConfig(settings);
  const cookies = await Promise.all(
    accounts.slice(0, 20).map(async ({ id }) => {
      const session = await make.session({ id, tenantId });
      const token = openSessionTokens(sessionKeys).issue({ sub: id, tid: tenantId, sid: session.id, ver: 1 });
      return `portal_session=${token}`;
    }),
  );

  const limitMs = await smtp.sendRaw(count);

  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));
  const log = openSync(join(folder, 'worker.log'), 'a');
  const worker = spawn(process.execPath, [...heap.worker, 'apps/worker/src/main.ts'], {
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  children.push(worker);
  const load = fork('bench/steady-load.ts', [api.url, ...cookies]);
  children.push(load);
  let calls: number[] = [];
  load.on('message', ({ ms }: { ms: number }) => calls.push(ms));
  await pause(5_000); // warm-up

  const dueAt = new Date(Date.now() + leadMs + quietMs);
  for (let from = 0; from < count; from += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, count - from) }, (_, n) => ({
      id: newId(),
      tenantId,
      userId: accounts[(from + n) % people]?.id ?? '',
      title: `Reminder ${from + n}`,
      dueAt,
      occurrenceId: newId(),
      emailEnabled: true,
    }));
    await database.acrossTenants('the benchmark makes reminders', (tx) => tx.insert(reminders).values(rows));
  }
  const durability = await database.acrossTenants('the benchmark reads the durability settings', (tx) =>
    tx.execute(sql`select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`),
  );
  await database.close();
  await pause(dueAt.getTime() - quietMs - Date.now());
  calls = [];
  await pause(quietMs);
  const quiet = calls;
  calls = [];
  const lastReceivedAt = await smtp.untilReceived(2 * count);
  const busy = calls;

  report(`${count.toLocaleString('en')} reminder mails from their due time on`, {
    ours: (lastReceivedAt - dueAt.getTime()) / 1_000,
    limit: limitMs / 1_000,
    unit: 's',
    goal: 'at most 2.0',
  });
  console.log('PostgreSQL:', durability.rows[0]);
  const p99 = (ms: number[]) => `${percentile(ms, 0.99).toFixed(1)} ms of ${ms.length} calls`;
  console.log(`API, 99th percentile: idle ${p99(quiet)}, under load ${p99(busy)} (at most double, or under 50 ms)`);
} finally {
  for (const child of children.filter(({ exitCode }) => exitCode === null)) child.kill('SIGTERM');
  await stopAll();
  await smtp.stop();
}
