import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'drizzle-orm';
import { startEmbeddedPostgres } from '@portal/db/embedded';
import { migrateDatabase } from '@portal/db/migrate';
import { users } from '@portal/db/schema/accounts/users';
import { reminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { builders } from '../make.ts';
import { type TestRedis } from '../servers/redis.ts';
import { startSmtpServer } from '../servers/smtp-server.ts';
import { startProgram, type WorkerProcess, workerSettings } from './worker-process.ts';

const program = (app: 'api' | 'worker') =>
  fileURLToPath(new URL(`../../../../apps/${app}/src/main.ts`, import.meta.url));
const heap = {
  api: ['--max-semi-space-size=4', '--max-old-space-size=192'],
  worker: ['--max-semi-space-size=4', '--max-old-space-size=512'],
};

export interface Answer {
  status: number;
  retryAfter: string | null;
  body: string;
}

/** What callers met, by status; 0 is a connection that broke. */
export interface Met {
  statuses: Record<number, number>;
  /** Refusals that do not say when to come again. */
  withoutRetryAfter: number;
  /** Reminders somebody was told to have. */
  promised: Set<string>;
  slowestMs: number;
}

/** A database of its own, API and worker as processes, a mail server, and somebody signed in. */
export async function openHouse({ redis = null, workers = 1 }: { redis?: TestRedis | null; workers?: number } = {}) {
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
  };
  const runtime = openRuntime(readConfig({ ...env, PORT: '3000' }), {
    process: 'script',
    log: openLog('silent', 'script'),
  });
  const make = builders(runtime.database);
  const programs: WorkerProcess[] = [];
  const start = async (app: 'api' | 'worker', settings: Record<string, string> = {}) => {
    const started = startProgram(program(app), { ...env, ...settings }, heap[app]);
    programs.push(started);
    const [message] = (await Promise.race([once(started.child, 'message'), started.endedByItself])) as [
      { url?: string },
    ];
    return { ...started, url: message.url ?? '' };
  };
  const api = await start('api');
  const atWork = await Promise.all(Array.from({ length: workers }, () => start('worker')));

  const admin = await make.user({ role: 'SUPER_ADMIN' });
  const cookieOf = async (account: { id: string; tenantId: string }) => {
    const session = await make.session(account);
    const token = openSessionTokens(runtime.config.sessionKeys).issue({
      sub: account.id,
      tid: account.tenantId,
      sid: session.id,
      ver: 1,
    });
    return `portal_session=${token}`;
  };
  const cookie = await cookieOf(admin);

  /** Asks the API; a connection that breaks is an answer with status 0. */
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

  return {
    api,
    workers: atWork,
    make,
    runtime,
    received,
    cookie,
    cookieOf,
    ask,
    start,
    folder,
    env,
    ownerUrl: postgres.url,
    appUrl: postgres.appUrl,
    /** Ends the database as an operator would and starts it again. */
    async restartPostgres(): Promise<void> {
      await postgres.stop();
      postgres = await openPostgres();
    },
    /** Callers that read and write without a pause until told to stop. */
    callers(count: number, pauseMs = 0): { met: Met; stop(): Promise<void> } {
      const met: Met = { statuses: {}, withoutRetryAfter: 0, promised: new Set(), slowestMs: 0 };
      let isOver = false;
      const calling = Array.from({ length: count }, async () => {
        for (let n = 0; !isOver; n += 1) {
          const title = newId();
          const startedAt = performance.now();
          const kinds = [
            () => ask('/auth/me'),
            () => ask('/reminders?pageSize=5'),
            () => ask('/reminders', { title, dueAt: '2036-01-08T08:00:00.000Z' }),
          ];
          const answer = await (kinds[n % kinds.length] ?? kinds[0])?.();
          if (!answer) continue;
          met.slowestMs = Math.max(met.slowestMs, performance.now() - startedAt);
          met.statuses[answer.status] = (met.statuses[answer.status] ?? 0) + 1;
          if (answer.status === 503 && answer.retryAfter === null) met.withoutRetryAfter += 1;
          if (answer.status === 201) met.promised.add(title);
          if (pauseMs > 0) await pause(pauseMs);
        }
      });
      return {
        met,
        async stop() {
          isOver = true;
          await Promise.all(calling);
        },
      };
    },
    /** Reminders that are due now, each of an account of its own, so that its address tells which mail came. */
    async promiseMails(count: number): Promise<string[]> {
      const tenant = await make.tenant();
      const accounts = Array.from({ length: count }, () => {
        const id = newId();
        return { id, tenantId: tenant.id, username: id, email: `${id}@example.org` };
      });
      await runtime.database.acrossTenants('the soak makes accounts', (tx) => tx.insert(users).values(accounts));
      await runtime.database.inTenant(tenant.id).tx((tx) =>
        tx.insert(reminders).values(
          accounts.map(({ id, tenantId }) => ({
            id: newId(),
            tenantId,
            userId: id,
            title: 'Soak',
            dueAt: sql`now()`,
            occurrenceId: newId(),
            emailEnabled: true,
          })),
        ),
      );
      return accounts.map(({ email }) => email);
    },
    async close(): Promise<void> {
      for (const { child, ended } of programs.toReversed()) {
        if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
        await ended;
      }
      await runtime.close();
      await smtp.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Waits until it is so, and answers how long that took; Infinity where it never was. */
export async function untilSo(isSo: () => Promise<boolean> | boolean, mostMs: number): Promise<number> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < mostMs) {
    if (await isSo()) return performance.now() - startedAt;
    await pause(25);
  }
  return Infinity;
}

/** Restarts the database again and again under load. What was promised is kept, and refusals are clean. */
export async function restartPostgresUnderLoad({
  restarts,
  callers,
}: {
  restarts: number;
  callers: number;
}): Promise<{ met: Met; longestMs: number; violations: string[] }> {
  const house = await openHouse();
  try {
    const violations: string[] = [];
    const calling = house.callers(callers, 5);
    let longestMs = 0;
    await pause(500);
    for (let n = 0; n < restarts; n += 1) {
      await house.restartPostgres();
      const back = await untilSo(async () => (await house.ask('/auth/me')).status === 200, 20_000);
      longestMs = Math.max(longestMs, back);
      if (back > 3_000) violations.push(`restart ${n + 1}: back after ${back.toFixed(0)} ms`);
      await pause(500);
    }
    await calling.stop();
    const { met } = calling;
    for (const status of Object.keys(met.statuses).map(Number))
      if (![200, 201, 503].includes(status)) violations.push(`${met.statuses[status]} answers with ${status}`);
    if (met.withoutRetryAfter > 0) violations.push(`${met.withoutRetryAfter} refusals without Retry-After`);
    const rows = await house.runtime.database.acrossTenants('the soak looks at what was promised', (tx) =>
      tx.select({ title: reminders.title }).from(reminders),
    );
    const titles = new Set(rows.map(({ title }) => title));
    const lost = [...met.promised].filter((title) => !titles.has(title)).length;
    if (lost > 0) violations.push(`${lost} reminders were promised and are not there`);
    if (titles.size !== rows.length) violations.push('a reminder is there twice');
    const mails = await house.promiseMails(5);
    if ((await untilSo(() => mails.every((address) => house.received.get(address) === 1), 60_000)) === Infinity)
      violations.push('the worker sends no mails any more');
    return { met, longestMs, violations };
  } finally {
    await house.close();
  }
}

interface ListedJob {
  name: string;
  schedule: string | null;
  nextRunAt: string | null;
}

/** Takes Redis away, empties it and fills it up: what was promised before and meanwhile is done once, and the schedules come back. */
export async function loseRedis({
  awayMs,
  mails,
  redis,
}: {
  awayMs: number;
  mails: number;
  redis: TestRedis;
}): Promise<{ schedulesBackMs: number; violations: string[] }> {
  const house = await openHouse({ redis, workers: 2 });
  try {
    const violations: string[] = [];
    const promised: string[] = [];
    // The sweeps that find what was promised come every ten seconds; a short run waits for them once.
    const isBrief = awayMs < 10_000;
    const scheduled = async () => {
      const answer = await house.ask('/admin/jobs');
      if (answer.status !== 200) return '';
      const jobs = JSON.parse(answer.body) as ListedJob[];
      return jobs
        .filter(({ schedule, nextRunAt }) => schedule !== null && nextRunAt !== null)
        .map(({ name, schedule }) => `${name} ${schedule}`)
        .toSorted()
        .join('\n');
    };
    let all = '';
    await untilSo(async () => (all = await scheduled()).split('\n').length > 10, 60_000);
    const promise = async (what: string) => {
      const addresses = await house.promiseMails(mails);
      promised.push(...addresses);
      // Each state of Redis lets people work on.
      for (const path of ['/auth/me', '/reminders']) {
        const { status } = await house.ask(path);
        if (status !== 200) violations.push(`${what}: ${path} answered ${status}`);
      }
      const { status } = await house.ask('/reminders', { title: what, dueAt: '2036-01-08T08:00:00.000Z' });
      if (status !== 201) violations.push(`${what}: POST /reminders answered ${status}`);
    };
    const kept = async (what: string, mostMs: number, isLast = false) => {
      if (isBrief && !isLast) return;
      const took = await untilSo(() => promised.every((address) => (house.received.get(address) ?? 0) > 0), mostMs);
      if (took === Infinity)
        violations.push(
          `${what}: ${promised.filter((address) => !house.received.has(address)).length} mails were lost`,
        );
    };

    async function emptied(): Promise<number> {
      await promise('emptied');
      await redis.empty();
      const emptiedAt = performance.now();
      await untilSo(async () => (await scheduled()) === all, 90_000);
      const backMs = performance.now() - emptiedAt;
      if (backMs > 60_000) violations.push(`emptied: schedules are back after ${backMs.toFixed(0)} ms`);
      await kept('emptied', 90_000);
      return backMs;
    }

    await promise('before');
    await redis.halt();
    await promise('away');
    await pause(awayMs);
    const { status } = await house.ask('/admin/jobs');
    if (status !== 503) violations.push(`away: /admin/jobs answered ${status}`);
    await redis.resume();
    await kept('away', 90_000);

    // An emptied Redis gets its schedules within half a minute: too long for a short run.
    const schedulesBackMs = isBrief ? 0 : await emptied();

    await redis.configure('maxmemory', '1');
    await promise('full');
    await pause(awayMs / 4);
    await redis.configure('maxmemory', '0');
    await kept('full', 90_000, true);

    await pause(1_000);
    const twice = promised.filter((address) => (house.received.get(address) ?? 0) > 1).length;
    if (twice > 0) violations.push(`${twice} mails came more than once`);
    return { schedulesBackMs, violations };
  } finally {
    await house.close();
  }
}

/** Resident memory and open handles of a process. */
async function stateOf(pid: number | undefined): Promise<{ memoryMb: number; handles: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const handles = await readdir(`/proc/${pid}/fd`);
  return { memoryMb: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024, handles: handles.length };
}

/** The least squares line through values one a step: what it grows by in a step. */
const slopeOf = (values: number[]): number => {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const above = values.reduce((sum, value, n) => sum + (n - middle) * (value - mean), 0);
  return above / values.reduce((sum, _value, n) => sum + (n - middle) ** 2, 0);
};

/** API and worker at a part of what they can do for a long time: neither memory nor handles grow. */
export async function liveADay(options: {
  minutes: number;
  warmUpMinutes: number;
  say: (line: string) => void;
}): Promise<{ met: Met; perHour: Record<string, number>; handles: Record<string, number>; violations: string[] }> {
  const house = await openHouse();
  try {
    const violations: string[] = [];
    // Four callers that think as long as this take about a third of one core.
    const calling = house.callers(4, 20);
    const mailing = { isOver: false };
    const mails = (async () => {
      while (!mailing.isOver) {
        await house.promiseMails(3);
        await pause(10_000);
      }
    })();
    const watched = { api: house.api.child.pid, worker: house.workers[0]?.child.pid };
    const everyMs = Math.min(60_000, (options.minutes * 60_000) / 20);
    const seen: Record<string, { memoryMb: number[]; handles: number[] }> = {
      api: { memoryMb: [], handles: [] },
      worker: { memoryMb: [], handles: [] },
    };
    await pause(options.warmUpMinutes * 60_000);
    for (let n = 0; n * everyMs < options.minutes * 60_000; n += 1) {
      for (const [name, pid] of Object.entries(watched)) {
        const { memoryMb, handles } = await stateOf(pid);
        seen[name]?.memoryMb.push(memoryMb);
        seen[name]?.handles.push(handles);
      }
      if (n % 30 === 0)
        options.say(
          Object.entries(seen)
            .map(
              ([name, { memoryMb, handles }]) => `${name} ${memoryMb.at(-1)?.toFixed(0)} MB, ${handles.at(-1)} handles`,
            )
            .join('; '),
        );
      await pause(everyMs);
    }
    mailing.isOver = true;
    await calling.stop();
    await mails;
    const perHour: Record<string, number> = {};
    const handles: Record<string, number> = {};
    for (const [name, { memoryMb, handles: open }] of Object.entries(seen)) {
      perHour[name] = (slopeOf(memoryMb) * (3_600_000 / everyMs)) / (memoryMb[0] ?? 1);
      const quarter = Math.max(1, Math.floor(open.length / 4));
      handles[name] = Math.max(...open.slice(-quarter)) - Math.max(...open.slice(0, quarter));
      if (handles[name] > 10) violations.push(`${name} holds ${handles[name]} handles more at the end`);
    }
    const bad = Object.keys(calling.met.statuses)
      .map(Number)
      .filter((status) => ![200, 201].includes(status));
    if (bad.length > 0) violations.push(`answers with ${bad.join(', ')}`);
    return { met: calling.met, perHour, handles, violations };
  } finally {
    await house.close();
  }
}

/** Puts new keys in front and rotates the stored secrets while people work; the old keys go at the end. */
export async function rotateKeysUnderLoad({
  callers,
}: {
  callers: number;
}): Promise<{ met: Met; violations: string[] }> {
  const house = await openHouse();
  try {
    const violations: string[] = [];
    const password = newId();
    const config = {
      host: '127.0.0.1',
      port: Number(house.env['SMTP_PORT']),
      security: 'none',
      username: 'a',
      password,
      fromAddress: 'a@example.org',
    };
    const stored = await house.ask('/smtp-config', config, { method: 'PUT' });
    if (stored.status >= 300) violations.push(`PUT /smtp-config answered ${stored.status}: ${stored.body}`);
    const calling = house.callers(callers, 5);
    const fresh = {
      SECRETS_KEYS: `new:${Buffer.alloc(32, 9).toString('base64')},${house.env['SECRETS_KEYS']}`,
      SESSION_SECRET: `new:${Buffer.alloc(32, 8).toString('base64')},${house.env['SESSION_SECRET']}`,
    };
    const both = await house.start('api', fresh);
    await runScript('rotate-secrets', { ...house.env, ...fresh });
    // An old cookie works at a process that knows both keys, and what is stored opens with the new key alone.
    const asked = await fetch(`${both.url}/auth/me`, { headers: { cookie: house.cookie } });
    if (asked.status !== 200) violations.push(`an old cookie was answered ${asked.status}`);
    await calling.stop();
    const only = { ...house.env, SECRETS_KEYS: fresh.SECRETS_KEYS.split(',')[0] ?? '' };
    await runScript('rotate-secrets', only).catch((error: unknown) =>
      violations.push(`without the old key: ${String(error)}`),
    );
    const bad = Object.keys(calling.met.statuses)
      .map(Number)
      .filter((status) => ![200, 201].includes(status));
    if (bad.length > 0) violations.push(`answers with ${bad.join(', ')}`);
    return { met: calling.met, violations };
  } finally {
    await house.close();
  }
}

async function runScript(name: string, env: Record<string, string>): Promise<void> {
  const path = fileURLToPath(new URL(`../../../../scripts/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [path], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${said.slice(-500)}`);
}
