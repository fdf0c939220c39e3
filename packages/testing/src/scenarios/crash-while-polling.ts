import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { eq, max, sql } from 'drizzle-orm';
import { pollPlans, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { runs } from '@portal/db/schema/platform/operations';
import type { StateChange } from '@portal/domain/monitoring/servers';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { createServer, listServers } from '@portal/usecases/monitoring/servers';
import { builders } from '../make.ts';
import { serverForm } from '../monitoring.ts';
import { startVirtualizationServer } from '../servers/products/virtualization-server.ts';
import { the } from '../the.ts';
import { startWorkerProcess, type WorkerProcess, workerSettings } from './worker-process.ts';

export interface PollCrashResult {
  kills: number;
  /** Longest time from a kill to the next written status, milliseconds. */
  longestGapMs: number;
  /** Servers whose state changes differ from what happened. */
  wrongChanges: number;
  /** Servers whose last status differs from their state. */
  wrongStates: number;
  /** Runs that ended before finishing their work. */
  failedRuns: number;
}

interface CrashOptions {
  databaseUrl: string;
  redisUrl: string | null;
  servers: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

/** Polls servers through the real worker process, and repeatedly kills it with SIGKILL in the middle of runs. */
export async function crashWhilePolling(options: CrashOptions): Promise<PollCrashResult> {
  const product = await startVirtualizationServer();
  // A run takes a while, so that kills hit it.
  product.latencyMs = 60;
  const env = workerSettings({ databaseUrl: options.databaseUrl, redisUrl: options.redisUrl, smtpPort: 9 });
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const deadline = performance.now() + options.deadlineMs;
  let worker: WorkerProcess | null = null;
  try {
    const make = builders(runtime.database);
    const admin = await make.user({ role: 'ADMIN' });
    const session = await make.session(admin);
    const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
    const ctx = await authenticate(
      system,
      sessionTokens(system).issue({ sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 }),
    );
    for (let n = 0; n < options.servers; n += 1)
      await createServer(ctx, serverForm(product, { name: `server ${n}`, pollIntervalMin: 1 }));

    const newest = async (): Promise<number> => {
      const [row] = await ctx.read((db) => db.select({ at: max(serverStatuses.checkedAt) }).from(serverStatuses));
      return row?.at?.getTime() ?? 0;
    };
    const until = async (what: string, condition: () => Promise<boolean>, everyMs = 50): Promise<void> => {
      while (!(await condition())) {
        if (performance.now() > deadline) throw new Error(`the deadline passed while waiting until ${what}`);
        await pause(everyMs);
      }
    };

    /** Lets runs begin at the worker's next sweep instead of the tenant’s next minute. */
    const becomeDue = () => ctx.tx((tx) => tx.update(pollPlans).set({ nextPollAt: sql`now()` }));

    let longestGapMs = 0;
    for (let kills = 0; kills < options.kills; kills += 1) {
      const before = await newest();
      const begunAt = performance.now();
      await becomeDue();
      worker = startWorkerProcess(env);
      await Promise.race([worker.unexpectedEnd, until('servers are polled', async () => (await newest()) > before)]);
      longestGapMs = Math.max(longestGapMs, performance.now() - begunAt);
      // The kill comes at a random instant: during many polls, during one, during a write.
      await pause(Math.random() * 300);
      worker.child.kill('SIGKILL');
      await once(worker.child, 'exit');
      options.say(`${kills + 1} kills`);
    }

    const all = (state: string) => async () => (await listServers(ctx)).every(({ status }) => status.state === state);
    const some = (state: string) => async () => (await listServers(ctx)).some(({ status }) => status.state === state);
    await becomeDue();
    worker = startWorkerProcess(env);
    await until('every server is ok', all('ok'), 500);
    // One real change, and a worker that dies while it writes the change to the servers.
    the(product.cluster.nodes[2]).online = false;
    await becomeDue();
    await until('the first server shows the change', some('critical'));
    worker.child.kill('SIGKILL');
    await once(worker.child, 'exit');
    worker = startWorkerProcess(env);
    await until('every server shows the change', all('critical'), 500);
    const statuses = (await listServers(ctx)).map(({ status }) => status);
    const expected = (changes: readonly StateChange[]) =>
      changes.length === 1 && changes[0]?.from === 'ok' && changes[0].to === 'critical';
    const ended = await ctx.read((db) =>
      db.select({ state: runs.state }).from(runs).where(eq(runs.kind, 'monitoring.poll')),
    );
    return {
      kills: options.kills + 1,
      longestGapMs: Math.round(longestGapMs),
      wrongChanges: statuses.filter(({ changes }) => !expected(changes)).length,
      wrongStates: statuses.filter(({ state }) => state !== 'critical').length,
      failedRuns: ended.filter(({ state }) => state === 'failed').length,
    };
  } finally {
    worker?.child.kill('SIGTERM');
    if (worker?.child.exitCode === null && worker.child.signalCode === null) await once(worker.child, 'exit');
    await runtime.close();
    await product.switchOff();
  }
}
