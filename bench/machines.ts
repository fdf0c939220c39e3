// Calls a second of 1, 2 and 4 APIs, mails a second of 1, 2 and 4 workers, and the processor time of each on the apps and on PostgreSQL.
import type { ChildProcess } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { Client } from 'pg';
import { openDatabase } from '@portal/db/open';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { builders } from '@portal/testing/make';
import { cpuSecOf } from '@portal/testing/processor-time';
import { startRedis } from '@portal/testing/servers/redis';
import { the } from '@portal/testing/the';
import { startCountingServer } from './counting-smtp-server.ts';
import { fullAccount } from './full-account.ts';
import { benchDatabase, benchSettings, memoryMb, startServer, startWorker, stopAll } from './measure.ts';

const seconds = Number(process.argv[2] ?? 8);
const mailsPerRound = Number(process.argv[3] ?? 4_000);
const counts = [1, 2, 4];
const connections = 32;
/** Outboxes among which the mails are: each has one sender at a time. */
const tenants = 40;
/** An account gets 100 mails of reminders a day. */
const recipientsOfTenant = 5;

const smtp = await startCountingServer();
const redis = await startRedis();
try {
  const { url, folder } = await benchDatabase({ sharedBuffers: '256MB' });
  const settings = {
    ...benchSettings(url, join(folder, 'data')),
    ...smtp.settings(mailsPerRound),
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
  };
  const owner = new Client({ connectionString: url });
  // If anything fails here, the server is stopped under it; that must not hide the failure.
  owner.on('error', () => undefined);
  await owner.connect();
  const postmaster = await postmasterOf(owner);
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const accounts: Awaited<ReturnType<typeof fullAccount>>[] = [];
  for (let n = 0; n < tenants; n += 1) accounts.push(await fullAccount(database, settings, 1));
  const make = builders(database);
  const recipients: { id: string; tenantId: string }[] = [];
  for (let n = 0; n < tenants * recipientsOfTenant; n += 1)
    recipients.push(await make.user({ tenantId: the(accounts[n % tenants]).user.tenantId }));
  await owner.query('vacuum analyze');
  console.log(`${availableParallelism()} cores carry the apps, PostgreSQL, Redis and the callers`);

  const apis: { url: string; child: ChildProcess }[] = [];
  for (const count of counts) {
    while (apis.length < count) apis.push(await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log')));
    const load = async (duration: number) => {
      const results = await Promise.all(
        apis.map((api, n) => {
          let next = (n * connections) / count;
          const setupClient = (client: autocannon.Client) => client.setRequests(requestsOf(the(accounts[next++])));
          return autocannon({ url: api.url, connections: connections / count, duration, setupClient });
        }),
      );
      for (const { non2xx, errors } of results)
        if (non2xx + errors > 0) throw new Error(`${non2xx} calls were refused, ${errors} failed`);
      return results.reduce((sum, { requests: { total } }) => sum + total, 0);
    };
    await load(2);
    const children = apis.map(({ child }) => child);
    const { done, sec, cpu } = await counted(children, postmaster, () => load(seconds));
    print('calls', 'API', { count, done, sec, cpu });
  }
  console.log(`memory of an API after that: ${(await memoryMb(apis[0]?.child.pid)).toFixed(0)} MB`);
  for (const { child } of apis) child.kill('SIGTERM');

  let received = 0;
  const workers: ChildProcess[] = [];
  for (const count of counts) {
    while (workers.length < count) workers.push(await startWorker(settings, join(folder, 'worker.log')));
    for (const mails of [mailsPerRound / 4, mailsPerRound]) {
      const isWarmUp = mails !== mailsPerRound;
      const rows = Array.from({ length: mails }, (_, n) => {
        const { id, tenantId } = the(recipients[n % recipients.length]);
        const dueAt = new Date(Date.now() + 3_600_000);
        return {
          id: newId(),
          tenantId,
          userId: id,
          title: `Reminder ${n}`,
          dueAt,
          occurrenceId: newId(),
          emailEnabled: true,
        };
      });
      for (let n = 0; n < rows.length; n += 1_000)
        await database.acrossTenants('the benchmark makes reminders', (tx) =>
          tx.insert(reminders).values(rows.slice(n, n + 1_000)),
        );
      await owner.query('update reminders set due_at = now() where email_queued_at is null');
      // Reminders that become due this way wait for the schedule.
      await smtp.untilReceived(received + 1);
      received += mails;
      const { done, sec, cpu } = await counted(workers, postmaster, async () => {
        await smtp.untilReceived(received);
        return mails;
      });
      if (!isWarmUp) print('mails', 'worker', { count, done, sec, cpu });
    }
  }
  console.log(`memory of a worker after that: ${(await memoryMb(workers[0]?.pid)).toFixed(0)} MB`);
  await database.close();
  await owner.end();
} finally {
  await stopAll();
  await redis.stop();
  await smtp.stop();
}

/** What the page of a dashboard calls: who am I, the dashboards, the widgets and the notices; one call in twenty saves a layout. */
function requestsOf({ cookie, tabs }: Awaited<ReturnType<typeof fullAccount>>): autocannon.Request[] {
  const { id, layout } = the(tabs[0]);
  const looks = ['/auth/me', '/dashboard/tabs', `/dashboard/tabs/${id}/widgets`, '/reminders/notifications'];
  return [
    ...Array.from({ length: 19 }, (_, n) => ({ path: the(looks[n % looks.length]), headers: { cookie } })),
    {
      method: 'PUT',
      path: `/dashboard/tabs/${id}/layout`,
      headers: { cookie, 'content-type': 'application/json' },
      body: layout,
    },
  ];
}

/** Runs the work, and counts the processor seconds that these processes and PostgreSQL used for it. */
async function counted(children: ChildProcess[], postmaster: number, work: () => Promise<number>) {
  const cpuNow = () => ({
    app: children.reduce((sum, { pid }) => sum + cpuSecOf(pid), 0),
    database: cpuOfFamily(postmaster),
    caller: cpuSecOf(process.pid),
  });
  const before = cpuNow();
  const startedAt = performance.now();
  const done = await work();
  const sec = (performance.now() - startedAt) / 1_000;
  const after = cpuNow();
  const used = (who: keyof typeof before) => after[who] - before[who];
  return { done, sec, cpu: { app: used('app'), database: used('database'), caller: used('caller') } };
}

function print(
  what: string,
  program: string,
  { count, done, sec, cpu }: { count: number } & Awaited<ReturnType<typeof counted>>,
): void {
  const each = (cpuSec: number) => `${((cpuSec * 1_000) / done).toFixed(3)} ms`;
  const name = `${count} ${program}${count === 1 ? '' : 's'}`;
  console.log(
    `${name.padEnd(9)} ${(done / sec).toFixed(0).padStart(6)} ${what} a second; processor time of one: ${program} ${each(cpu.app)}, PostgreSQL ${each(cpu.database)}, caller ${each(cpu.caller)}; one core of PostgreSQL carries ${(cpu.app / cpu.database).toFixed(1)} cores of ${program}s`,
  );
}

async function postmasterOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
  return Number.parseInt(readFileSync(join(the(rows[0]).folder, 'postmaster.pid'), 'utf8'), 10);
}

/** Processor seconds of PostgreSQL: of its first process, of those it has, and of those that have ended. */
function cpuOfFamily(postmaster: number): number {
  const fieldsOf = (pid: string | number) =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  const ended = fieldsOf(postmaster).slice(13, 15);
  let sec = cpuSecOf(postmaster) + ended.reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  for (const path of globSync('/proc/[0-9]*/stat')) {
    const pid = Number(path.split('/')[2]);
    try {
      if (Number(fieldsOf(pid)[1]) === postmaster) sec += cpuSecOf(pid);
    } catch {
      // It has ended since.
    }
  }
  return sec;
}
