import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@portal/db/embedded';
import { migrateDatabase } from '@portal/db/migrate';
import { users } from '@portal/db/schema/accounts/users';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { areas } from '@portal/usecases/areas';
import { builders } from '../make.ts';
import { heap } from '../program.ts';
import { type TestRedis } from '../servers/redis.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { testMatrix } from '../test-matrix.ts';
import { makeDueReminders } from './crash-while-mailing.ts';
import { startProgram, type WorkerProcess, workerSettings } from './worker-process.ts';

export interface Answer {
  status: number;
  retryAfter: string | null;
  body: string;
}

/** Answers to callers, by status; 0 is a broken connection. */
export interface CallStats {
  statuses: Record<number, number>;
  /** Refusals without a Retry-After. */
  withoutRetryAfter: number;
  /** Titles of the reminders that the API confirmed. */
  confirmed: Set<string>;
}

/** The paths that callers read in turn, and their pause between two calls. */
export interface Calling {
  reads?: string[];
  thinkMs?: () => number;
}

/** An account may have a thousand; callers delete earlier, so that lists stay as short as those of real users. */
const maxReminders = 20;

interface StackOptions {
  /** Settings of all programs, besides their own. */
  settings?: Record<string, string>;
  redis?: Pick<TestRedis, 'url'> | null;
  workers?: number;
  nodeOptions?: string[];
  /** Command that starts the programs. */
  under?: readonly string[];
}

/** Starts a database, API and worker as processes, and a mail server, and signs in an administrator. */
export async function startStack({
  settings: given = {},
  redis = null,
  workers = testMatrix.workers,
  nodeOptions = [],
  under = [],
}: StackOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'portal-house-'));
  const openPostgres = () => startEmbeddedPostgres({ dataDir: join(folder, 'pg'), durable: false });
  let postgres = await openPostgres();
  await migrateDatabase(postgres.url, { appUrl: postgres.appUrl });
  const received = new Map<string, number>();
  const smtp = await startSmtpServer({
    onMessage: ({ envelopeTo }) => {
      for (const address of envelopeTo) received.set(address, (received.get(address) ?? 0) + 1);
    },
  });
  const env: Record<string, string> = {
    ...workerSettings({ databaseUrl: postgres.appUrl, redisUrl: redis?.url ?? null, smtpPort: smtp.port }),
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ...given,
  };
  const runtime = openRuntime(readConfig({ ...env, PORT: '3000' }), {
    process: 'script',
    log: openLog('silent', 'script'),
  });
  const make = builders(runtime.database);
  const programs: WorkerProcess[] = [];
  const start = async (app: 'api' | 'worker', settings: Record<string, string> = {}) => {
    const started = startProgram(
      `apps/${app}/src/main.ts`,
      { ...env, ...settings },
      { nodeOptions: [...heap[app], ...nodeOptions], under },
    );
    programs.push(started);
    const [message] = (await Promise.race([once(started.child, 'message'), started.unexpectedEnd])) as [
      { url?: string },
    ];
    return { ...started, url: message.url ?? '' };
  };
  let api = await start('api');
  let runningWorkers = await Promise.all(Array.from({ length: workers }, () => start('worker')));

  const admin = await make.user({ role: 'SUPER_ADMIN' });
  const cookieOf = async (account: { id: string; tenantId: string }, keys = runtime.config.sessionKeys) => {
    const session = await make.session(account);
    const token = openSessionTokens(keys).issue({
      sub: account.id,
      tid: account.tenantId,
      sid: session.id,
      ver: 1,
    });
    return `portal_session=${token}`;
  };
  const cookie = await cookieOf(admin);

  /** Calls the API; a broken connection is an answer with status 0. */
  async function ask(path: string, body?: object, options: { cookie?: string; method?: string } = {}): Promise<Answer> {
    try {
      const answer = await fetch(api.url + path, {
        method: options.method ?? (body ? 'POST' : 'GET'),
        headers: { cookie: options.cookie ?? cookie, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.text() };
    } catch {
      return { status: 0, retryAfter: null, body: '' };
    }
  }

  /** Adds accounts whose addresses identify them. */
  async function makePeople(
    count: number,
    tenant?: { id: string },
  ): Promise<{ id: string; tenantId: string; email: string }[]> {
    const { id: tenantId } = tenant ?? (await make.tenant());
    const accounts = Array.from({ length: count }, () => {
      const id = newId();
      return { id, tenantId, username: id, email: `${id}@example.org` };
    });
    await runtime.database.acrossTenants('the soak makes accounts', (tx) => tx.insert(users).values(accounts));
    return accounts;
  }

  /** Adds a reminder with a mail for each account, due now. */
  async function remind(people: { id: string; tenantId: string }[]): Promise<void> {
    await runtime.database.acrossTenants('the soak makes reminders', (tx) => makeDueReminders(tx, people));
  }

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll());
  async function closeAll(): Promise<void> {
    for (const { child, ended } of programs.toReversed()) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    }
    await runtime.close();
    await smtp.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    for (const signal of signals) process.off(signal, stop);
  }
  // A long run that is stopped leaves no server behind.
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const stop = () => void close().finally(() => process.exit(1));
  for (const signal of signals) process.once(signal, stop);

  return {
    api: () => api,
    workers: () => runningWorkers,
    /** Restarts the programs with other settings: starts the new ones, moves the callers to them, then stops the old ones. */
    async replaceBy(settings: Record<string, string>): Promise<void> {
      const old = [api, ...runningWorkers];
      const next = await Promise.all([start('api', settings), ...runningWorkers.map(() => start('worker', settings))]);
      [api, ...runningWorkers] = next;
      await pause(200);
      for (const { child } of old) child.kill('SIGTERM');
      await Promise.all(old.map(({ ended }) => ended));
    },
    admin,
    make,
    runtime,
    received,
    cookie,
    cookieOf,
    ask,
    env,
    ownerUrl: postgres.url,
    appUrl: postgres.appUrl,
    /** Stops the database as an operator would, and starts it again. */
    async restartPostgres(): Promise<void> {
      await postgres.stop();
      postgres = await openPostgres();
    },
    /** Starts callers of one tenant, each with an account, that read, write and delete until stopped. */
    async callers(
      count: number,
      { reads = ['/auth/me', '/reminders'], thinkMs = () => 25 }: Calling = {},
    ): Promise<{ stats: CallStats; stop(): Promise<void> }> {
      const stats: CallStats = { statuses: {}, withoutRetryAfter: 0, confirmed: new Set() };
      let isOver = false;
      const tenant = await make.tenant();
      async function call(
        n: number,
        own: { id: string; title: string }[],
        caller: { cookie: string },
      ): Promise<Answer> {
        const read = reads[Math.floor(n / 2) % reads.length];
        if (n % 2 === 0 && read !== undefined) return ask(read, undefined, caller);
        const oldest = own.length < maxReminders ? undefined : own.shift();
        if (oldest !== undefined) {
          stats.confirmed.delete(oldest.title);
          return ask(`/reminders/${oldest.id}`, undefined, { ...caller, method: 'DELETE' });
        }
        const title = newId();
        const answer = await ask('/reminders', { title, dueAt: '2036-01-08T08:00:00.000Z' }, caller);
        if (answer.status === 201) {
          stats.confirmed.add(title);
          own.push({ id: (JSON.parse(answer.body) as { id: string }).id, title });
        }
        return answer;
      }
      const cookies = await Promise.all(
        Array.from({ length: count }, async () => cookieOf(await make.user({ tenantId: tenant.id, role: 'ADMIN' }))),
      );
      const calling = cookies.map(async (own) => {
        const reminders: { id: string; title: string }[] = [];
        for (let n = 0; !isOver; n += 1) {
          const { status, retryAfter } = await call(n, reminders, { cookie: own });
          stats.statuses[status] = (stats.statuses[status] ?? 0) + 1;
          if (status === 503 && retryAfter === null) stats.withoutRetryAfter += 1;
          await pause(thinkMs());
        }
      });
      return {
        stats,
        async stop() {
          isOver = true;
          await Promise.all(calling);
        },
      };
    },
    makePeople,
    remind,
    /** Makes a mail due now for each of `count` new people. Returns their addresses. */
    async makeDueMails(count: number): Promise<string[]> {
      const people = await makePeople(count);
      await remind(people);
      return people.map(({ email }) => email);
    },
    close,
  };
}

/** Asks every `everyMs` whether the condition holds, and waits until then. Returns the milliseconds that took; Infinity after `maxMs`. */
export async function waitUntil(
  condition: () => Promise<boolean> | boolean,
  maxMs: number,
  everyMs = 25,
): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < maxMs) {
    if (await condition()) return performance.now() - startedAt;
    await pause(everyMs);
  }
  return Infinity;
}

/** Restarts the database repeatedly under load. No confirmed write is lost, and refusals are clean. */
export async function restartPostgresUnderLoad({
  restarts,
  callers,
}: {
  restarts: number;
  callers: number;
}): Promise<{ stats: CallStats; longestMs: number; violations: string[] }> {
  const stack = await startStack();
  try {
    const violations: string[] = [];
    const calling = await stack.callers(callers);
    let longestMs = 0;
    await pause(500);
    for (let n = 0; n < restarts; n += 1) {
      await stack.restartPostgres();
      const back = await waitUntil(async () => (await stack.ask('/auth/me')).status === 200, 20_000);
      longestMs = Math.max(longestMs, back);
      if (back > 3_000) violations.push(`restart ${n + 1}: back after ${back.toFixed(0)} ms`);
      await pause(500);
    }
    await calling.stop();
    const { stats } = calling;
    for (const status of Object.keys(stats.statuses).map(Number))
      if (![200, 201, 204, 503].includes(status)) violations.push(`${stats.statuses[status]} answers with ${status}`);
    if (stats.withoutRetryAfter > 0) violations.push(`${stats.withoutRetryAfter} refusals without Retry-After`);
    const rows = await stack.runtime.database.acrossTenants('the soak reads the reminders', (tx) =>
      tx.select({ title: reminders.title }).from(reminders),
    );
    const titles = new Set(rows.map(({ title }) => title));
    const lost = [...stats.confirmed].filter((title) => !titles.has(title)).length;
    if (lost > 0) violations.push(`${lost} confirmed reminders are missing`);
    if (titles.size !== rows.length) violations.push('a reminder is stored twice');
    const mails = await stack.makeDueMails(5);
    if ((await waitUntil(() => mails.every((address) => stack.received.get(address) === 1), 60_000)) === Infinity)
      violations.push('the worker no longer sends mails');
    return { stats, longestMs, violations };
  } finally {
    await stack.close();
  }
}

interface ListedJob {
  name: string;
  nextRunAt: string | null;
}

/** Stops Redis, empties it and fills it up: every mail that is due before or during that is sent once, and the schedules return. */
export async function loseRedis({
  awayMs,
  mails,
  redis,
}: {
  awayMs: number;
  mails: number;
  redis: TestRedis;
}): Promise<{ schedulesBackMs: number; violations: string[] }> {
  const stack = await startStack({ redis, workers: 2 });
  try {
    const violations: string[] = [];
    const expected: string[] = [];
    // The sweeps that find due mails run every ten seconds; a short run waits for them once.
    const isBrief = awayMs < 10_000;
    /** Scheduled jobs of the product without a next run. */
    const unscheduled = async (): Promise<string[]> => {
      const { status, body } = await stack.ask('/admin/jobs');
      const jobs = status === 200 ? (JSON.parse(body) as ListedJob[]) : [];
      const next = new Map(jobs.map(({ name, nextRunAt }) => [name, nextRunAt]));
      return areas
        .flatMap(({ schedules = [] }) => schedules.map(({ job }) => job.name))
        .filter((name) => (next.get(name) ?? null) === null);
    };
    const isAllScheduled = async () => (await unscheduled()).length === 0;
    // The list of jobs counts the jobs of each queue.
    if ((await waitUntil(isAllScheduled, 60_000, 250)) === Infinity)
      violations.push(`before: no schedule of ${(await unscheduled()).join(', ')}`);
    const addDueMails = async (what: string) => {
      const addresses = await stack.makeDueMails(mails);
      expected.push(...addresses);
      // People can work in each state of Redis.
      for (const path of ['/auth/me', '/reminders']) {
        const { status } = await stack.ask(path);
        if (status !== 200) violations.push(`${what}: ${path} answered ${status}`);
      }
      const { status } = await stack.ask('/reminders', { title: what, dueAt: '2036-01-08T08:00:00.000Z' });
      if (status !== 201) violations.push(`${what}: POST /reminders answered ${status}`);
    };
    const expectDelivered = async (what: string, maxMs: number, isLast = false) => {
      if (isBrief && !isLast) return;
      const took = await waitUntil(() => expected.every((address) => (stack.received.get(address) ?? 0) > 0), maxMs);
      if (took === Infinity)
        violations.push(
          `${what}: ${expected.filter((address) => !stack.received.has(address)).length} mails were lost`,
        );
    };

    async function emptied(): Promise<number> {
      await addDueMails('emptied');
      await redis.empty();
      const emptiedAt = performance.now();
      await waitUntil(isAllScheduled, 90_000, 250);
      const backMs = performance.now() - emptiedAt;
      if (backMs > 60_000)
        violations.push(`emptied: after ${backMs.toFixed(0)} ms no schedule of ${(await unscheduled()).join(', ')}`);
      await expectDelivered('emptied', 90_000);
      return backMs;
    }

    await addDueMails('before');
    await redis.halt();
    await addDueMails('away');
    await pause(awayMs);
    const { status } = await stack.ask('/admin/jobs');
    if (status !== 503) violations.push(`away: /admin/jobs answered ${status}`);
    await redis.resume();
    await expectDelivered('away', 90_000);

    // An emptied Redis gets its schedules within half a minute: too long for a short run.
    const schedulesBackMs = isBrief ? 0 : await emptied();

    await redis.configure('maxmemory', '1');
    await addDueMails('full');
    await pause(awayMs / 4);
    await redis.configure('maxmemory', '0');
    await expectDelivered('full', 90_000, true);

    await pause(1_000);
    const twice = expected.filter((address) => (stack.received.get(address) ?? 0) > 1).length;
    if (twice > 0) violations.push(`${twice} mails came more than once`);
    return { schedulesBackMs, violations };
  } finally {
    await stack.close();
  }
}

/** Fails Redis over while people work and mails become due: nobody is refused, and every mail is sent once. */
export async function failOverRedis({
  redis,
  mails,
  callers,
}: {
  redis: { url: string; failOver(): Promise<void> };
  mails: number;
  callers: number;
}): Promise<{ stats: CallStats; violations: string[] }> {
  const stack = await startStack({ redis, workers: 2 });
  try {
    const violations: string[] = [];
    const calling = await stack.callers(callers);
    const expected = await stack.makeDueMails(mails);
    let isOver = false;
    const failing = redis.failOver().finally(() => (isOver = true));
    while (!isOver) {
      expected.push(...(await stack.makeDueMails(1)));
      await pause(100);
    }
    await failing;
    expected.push(...(await stack.makeDueMails(mails)));
    const isDelivered = () => expected.every((address) => stack.received.has(address));
    if ((await waitUntil(isDelivered, 60_000)) === Infinity)
      violations.push(`${expected.filter((address) => !stack.received.has(address)).length} mails were lost`);
    await calling.stop();
    await pause(500);
    const twice = expected.filter((address) => (stack.received.get(address) ?? 0) > 1).length;
    if (twice > 0) violations.push(`${twice} mails came more than once`);
    for (const [status, count] of Object.entries(calling.stats.statuses))
      if (!['200', '201', '204'].includes(status)) violations.push(`${count} answers with ${status}`);
    return { stats: calling.stats, violations };
  } finally {
    await stack.close();
  }
}
