import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, sql } from 'drizzle-orm';
import { readCloud } from '@portal/connectors/cloud-status/read-cloud';
import type { Tx } from '@portal/db/open';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import type { CloudInstance } from '@portal/domain/cloud-status/instances';
import { busy, notFound, PortalError } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { answerInTime } from '@portal/platform/answer-in-time';
import type { UserContext } from '@portal/platform/context';
import { callLimits } from '@portal/platform/limits';
import { consumeOrThrow, type RateLimit } from '@portal/platform/rate-limit';
import { addRun, joinRun } from '@portal/platform/runs/start';
import { openSemaphore } from '@portal/platform/semaphore';
import { claimOne } from './claims.ts';
import { getCloudInstance } from './instances.ts';
import { checkAllInstances } from './jobs.ts';
import { settleChecks } from './settle-checks.ts';

const perInstance: RateLimit = { name: 'cloud check by hand', max: 1, windowSec: 10 };
const perTenant: RateLimit = { name: 'cloud checks of all by hand', max: 1, windowSec: 10 };

/** Longer than a check takes once its instance is claimed. */
const checkMs = 20 * SECOND;
const retryEveryMs = 100;

const inSlot = openSemaphore({
  ...callLimits.cloudChecksByHand,
  refusal: () => busy('Many clouds are already being checked. Please try again in a moment.', 15),
});

/**
 * Checks an instance now, active or not, and returns it. If another check is under way, waits for its result instead. Throws 404, 429
 * `POLL_LOCKED` within ten seconds, and 503 if the other check does not end, because a killed process leaves its lease behind.
 */
export const checkCloudInstance = (ctx: UserContext, id: string): Promise<CloudInstance> =>
  answerInTime('The check is not finished yet. Please try again in a moment.', (deadline) =>
    checkNow(ctx, id, deadline),
  );

async function checkNow(ctx: UserContext, id: string, deadline: AbortSignal): Promise<CloudInstance> {
  const beganAt = await ctx.tx(async (tx) => {
    const [found] = await tx
      .select({ now: sql<string>`now()::text` })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, id));
    if (!found) throw notFound();
    await enforceLimit(tx, perInstance, id);
    return found.now;
  });
  await inSlot(() => checkOrAwait(ctx, id, beganAt, deadline), { key: ctx.tenantId });
  return getCloudInstance(ctx, id);
}

async function checkOrAwait(ctx: UserContext, id: string, beganAt: string, deadline: AbortSignal): Promise<void> {
  while (!deadline.aborted) {
    const claim = await claimOne(ctx, id);
    if (claim) {
      const signal = AbortSignal.timeout(checkMs);
      const reading = await readCloud(claim.statusUrl, ctx.config.outbound.byAdmins, signal);
      await settleChecks(ctx, [{ claim, reading }]);
      return;
    }
    await pause(retryEveryMs);
    if (!(await isUncheckedSince(ctx, id, beganAt))) return;
  }
}

/** Whether no check of the instance has ended since a time of the database clock. */
const isUncheckedSince = (ctx: UserContext, id: string, since: string): Promise<boolean> =>
  ctx.read(async (db) => {
    const isUnchecked = sql`(${cloudInstances.checkedAt} is null or ${cloudInstances.checkedAt} < ${since}::timestamptz)`;
    return (await db.$count(cloudInstances, and(eq(cloudInstances.id, id), isUnchecked))) > 0;
  });

/**
 * Starts a run that checks all active instances, or returns the run under way. Throws 429 `POLL_LOCKED` within ten seconds of the last
 * call of the tenant.
 */
export async function startCheckOfAll(ctx: UserContext): Promise<{ runId: string }> {
  const payload = { tenantId: ctx.tenantId };
  const by = { startedBy: ctx.actor.id };
  const runId = await ctx.tx(async (tx) => {
    await enforceLimit(tx, perTenant, ctx.tenantId);
    // The rate limit refuses concurrent calls, so no other call adds a run in between.
    return (await joinRun(tx, checkAllInstances, payload, by)) ?? (await addRun(tx, checkAllInstances, payload, by));
  });
  await ctx.enqueue(checkAllInstances, payload, { runId });
  return { runId };
}

const enforceLimit = (tx: Tx, limit: RateLimit, subject: string): Promise<void> =>
  consumeOrThrow(tx, limit, subject, (retryAfterSec) => new PortalError('POLL_LOCKED', undefined, { retryAfterSec }));
