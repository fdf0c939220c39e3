import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { groupMembers } from '@portal/db/schema/modules';
import { runs } from '@portal/db/schema/platform/operations';
import { LdapConfigInput } from '@portal/domain/directory/config';
import type { LdapSyncRun } from '@portal/domain/directory/sync';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { openRuntime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { putLdapConfig } from '@portal/usecases/directory/ldap-config';
import { getSyncRun } from '@portal/usecases/directory/list-sync-runs';
import { startSync } from '@portal/usecases/directory/start-sync';
import { builders } from '../make.ts';
import { noSources } from '../no-sources.ts';
import { group, person, startSlapd } from '../servers/slapd.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export interface SyncCrashResult {
  kills: number;
  /** The final state of the run that was killed repeatedly. */
  run: LdapSyncRun;
  accounts: number;
  memberships: number;
  /** Changes that the next run still made. */
  leftToDo: number;
  /** Entries left in staging. */
  staged: number;
}

interface CrashOptions {
  databaseUrl: string;
  people: number;
  kills: number;
  deadlineMs: number;
  say: (line: string) => void;
}

/** Synchronizes through the real worker process, and repeatedly kills it with SIGKILL in the middle of one run. */
export async function crashWhileSyncing(options: CrashOptions): Promise<SyncCrashResult> {
  const people = Array.from({ length: options.people }, (_, n) => person(`c${n}`));
  const server = await startSlapd({
    entries: [
      ...people,
      group(
        'everybody',
        people.map(({ dn }) => dn),
      ),
    ],
  });
  const env = {
    DATABASE_URL: options.databaseUrl,
    SESSION_SECRET: `soak:${Buffer.alloc(32).toString('base64')}`,
    SECRETS_KEYS: `soak:${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: 'silent',
    ...noSources,
  };
  const runtime = openRuntime(readConfig(env), { process: 'script', log: openLog('silent', 'script') });
  const deadline = performance.now() + options.deadlineMs;
  let worker: WorkerProcess | null = null;

  try {
    const make = builders(runtime.database);
    const admin = await make.user({ role: 'ADMIN' });
    const session = await make.session(admin);
    const system = runtime.system({ requestId: 'soak', ip: null, userAgent: null });
    const claims = { sub: admin.id, tid: admin.tenantId, sid: session.id, ver: 1 };
    const ctx = await authenticate(system, sessionTokens(system).issue(claims));
    const { url: serverUrl, baseDn, adminDn: bindDn, adminPassword: bindPassword } = server;
    await putLdapConfig(ctx, LdapConfigInput.parse({ serverUrl, baseDn, bindDn, bindPassword }));
    const { runId } = await startSync(ctx, {});

    const attempts = async (): Promise<number> => {
      const [row] = await ctx.read((db) => db.select({ attempts: runs.attempts }).from(runs).where(eq(runs.id, runId)));
      return row?.attempts ?? 0;
    };
    const isOver = async (id: string) => (await getSyncRun(ctx, id)).finishedAt !== null;
    const until = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
      while (!(await condition())) {
        if (performance.now() > deadline) throw new Error(`the deadline passed while waiting until ${what}`);
        await pause(20);
      }
    };

    let kills = 0;
    let longestMs = 2_000;
    while (kills < options.kills && !(await isOver(runId))) {
      const before = await attempts();
      worker = startWorkerProcess(env);
      await until('the run is taken up', async () => (await attempts()) > before || (await isOver(runId)));
      // The kill comes at a random instant: while reading, between two batches or within one; earlier if the last one came too late.
      await pause(Math.random() * longestMs);
      worker.child.kill('SIGKILL');
      await worker.ended;
      kills += 1;
      if (await isOver(runId)) longestMs /= 2;
      options.say(`${kills} kills`);
    }
    worker = startWorkerProcess(env);
    await until('the run is over', () => isOver(runId));
    const run = await getSyncRun(ctx, runId);
    const { runId: next } = await startSync(ctx, {});
    await until('the next run is over', () => isOver(next));
    const { counts, state } = await getSyncRun(ctx, next);
    if (state !== 'succeeded') throw new Error(`the next run ended ${state}`);
    const { created, updated, reactivated, deactivated, groups, memberships } = counts;
    const staged = await ctx.tx((tx) => tx.execute(sql`select from ldap_staged_entries`));
    return {
      kills,
      run,
      accounts: await ctx.read((db) => db.$count(users, and(eq(users.isActive, true), isNotNull(users.ldapDn)))),
      memberships: await ctx.read((db) => db.$count(groupMembers)),
      leftToDo: created + updated + reactivated + deactivated + groups + memberships,
      staged: staged.rowCount ?? 0,
    };
  } finally {
    worker?.child.kill('SIGTERM');
    await worker?.ended;
    await runtime.close();
    await server.stop();
  }
}
