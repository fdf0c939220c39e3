import { setTimeout as pause } from 'node:timers/promises';
import { and, asc, eq, isNull } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { tenants } from '@portal/db/schema/tenants';
import { PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import type { AnyJob, PayloadOf } from '@portal/platform/jobs/job';
import { runScope } from '@portal/platform/runs/scope';
import { addRun, conflictWithUnfinished } from '@portal/platform/runs/start';
import { beginRun, endRun } from '@portal/platform/runs/state';
import type { Runtime } from '@portal/platform/runtime';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { sessionTokens } from '@portal/usecases/accounts/session-token';
import { insertSession, signOut } from '@portal/usecases/accounts/sessions';
import { areas } from '@portal/usecases/areas';
import { handlersFor } from '@portal/usecases/handlers';

const origin = () => ({ requestId: newId(), ip: null, userAgent: 'pnpm demo' });

/** Runs `work` as an account, in a session that ends with it. Access to the database replaces the password. */
export async function as<T>(
  runtime: Runtime,
  account: { id: string; tenantId: string; sessionVersion: number },
  work: (ctx: UserContext) => Promise<T>,
): Promise<T> {
  const system = runtime.system(origin());
  const session = { id: newId(), tenantId: account.tenantId, userId: account.id };
  await system.inTenant(account.tenantId).tx((tx) => insertSession(tx, system, session));
  const token = sessionTokens(system).issue({
    sub: account.id,
    tid: account.tenantId,
    sid: session.id,
    ver: account.sessionVersion,
  });
  try {
    return await work(await authenticate(system, token));
  } finally {
    await signOut(system, token);
  }
}

const identity = { id: users.id, tenantId: users.tenantId, sessionVersion: users.sessionVersion };

/** The oldest active SUPER_ADMIN with a local account. */
export async function firstSuperAdmin(runtime: Runtime) {
  const [found] = await runtime.database.acrossTenants(
    'the demo needs an administrator who may create a tenant',
    (tx) =>
      tx
        .select(identity)
        .from(users)
        .innerJoin(tenants, eq(tenants.id, users.tenantId))
        .where(
          and(
            eq(users.role, 'SUPER_ADMIN'),
            eq(users.isActive, true),
            isNull(users.ldapDn),
            eq(tenants.isActive, true),
          ),
        )
        .orderBy(asc(users.id))
        .limit(1),
  );
  if (!found) throw new Error('No active SUPER_ADMIN with a local account can create the demo tenant.');
  return found;
}

export async function accountOf(runtime: Runtime, tenantId: string, username: string) {
  const [found] = await runtime.database
    .inTenant(tenantId)
    .read((db) => db.select(identity).from(users).where(eq(users.username, username)));
  if (!found)
    throw new Error(`The demo account ${username} no longer exists. Delete the demo tenant and run the demo again.`);
  return found;
}

const handlers = new Map(handlersFor(areas).map((handler) => [handler.job.name, handler]));
const waitMs = 60_000;

/** Performs a job in this process, so that no worker is needed. Waits for a run of the job that is under way. */
export async function performJob<Job extends AnyJob>(
  runtime: Runtime,
  job: Job,
  payload: PayloadOf<Job>,
): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    try {
      const runId = await scopeOf(runtime, job, payload)
        .tx((tx) => addRun(tx, job, payload, { startedBy: null }))
        .catch(conflictWithUnfinished(['CONFLICT', 'A run of this job is under way.']));
      return await performRun(runtime, job, payload, runId);
    } catch (error) {
      if (!(error instanceof PortalError && error.code === 'CONFLICT') || performance.now() > deadline) throw error;
      await pause(500);
    }
  }
}

/** Performs a run that was added without a queued job. */
export async function performRun<Job extends AnyJob>(
  runtime: Runtime,
  job: Job,
  payload: PayloadOf<Job>,
  runId: string,
): Promise<void> {
  const handler = handlers.get(job.name);
  if (!handler) throw new Error(`No handler exists for the job ${job.name}.`);
  const scope = scopeOf(runtime, job, payload);
  const run = await beginRun(scope, runId);
  if (run === null) return;
  const work = { run, signal: AbortSignal.timeout(waitMs), actorId: null, progress: () => undefined };
  let failure: string | null = 'It was interrupted.';
  try {
    await handler.perform(runtime, { requestId: newId(), actorId: null }, payload as never, work);
    failure = null;
  } catch (error) {
    if (!(error instanceof PortalError)) throw error;
    failure = error.message;
  } finally {
    await endRun(scope, run, { error: failure });
  }
}

const scopeOf = <Job extends AnyJob>({ database }: Runtime, job: Job, payload: PayloadOf<Job>) =>
  runScope(database, job.scope === 'tenant' ? (payload as { tenantId: string }).tenantId : null);
