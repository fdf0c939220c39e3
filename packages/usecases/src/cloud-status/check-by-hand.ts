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

/** Longer than a check takes once it has its instance. */
const checkMs = 20 * SECOND;
const lookEveryMs = 100;

const inPlace = openSemaphore({
  ...callLimits.cloudChecksByHand,
  refusal: () => busy('Many clouds are already being checked. Please try again in a moment.', 15),
});

/**
 * Checks an instance now, active or not, and answers it. Where another check is at it, that one’s result is the answer. Throws 404,
 * 429 `POLL_LOCKED` within ten seconds, and 503 where the other check does not end: a process that was killed leaves its lease behind.
 */
export const checkCloudInstance = (ctx: UserContext, id: string): Promise<CloudInstance> =>
  answerInTime('The check has not ended yet. Please look again in a moment.', (patience) =>
    checkNow(ctx, id, patience),
  );

async function checkNow(ctx: UserContext, id: string, patience: AbortSignal): Promise<CloudInstance> {
  const beganAt = await ctx.tx(async (tx) => {
    const [found] = await tx
      .select({ now: sql<string>`now()::text` })
      .from(cloudInstances)
      .where(eq(cloudInstances.id, id));
    if (!found) throw notFound();
    await takeTurn(tx, perInstance, id);
    return found.now;
  });
  await inPlace(() => checkOrAwait(ctx, id, beganAt, patience), { key: ctx.tenantId });
  return getCloudInstance(ctx, id);
}

async function checkOrAwait(ctx: UserContext, id: string, beganAt: string, patience: AbortSignal): Promise<void> {
  while (!patience.aborted) {
    const claim = await claimOne(ctx, id);
    if (claim) {
      const signal = AbortSignal.timeout(checkMs);
      const reading = await readCloud(claim.statusUrl, ctx.config.outbound.byAdmins, signal);
      await settleChecks(ctx, [{ claim, reading }]);
      return;
    }
    await pause(lookEveryMs);
    if (!(await isAwaited(ctx, id, beganAt))) return;
  }
}

/** Whether no check of the instance has ended since a time of the database's. */
const isAwaited = (ctx: UserContext, id: string, since: string): Promise<boolean> =>
  ctx.read(async (db) => {
    const isUnchecked = sql`(${cloudInstances.checkedAt} is null or ${cloudInstances.checkedAt} < ${since}::timestamptz)`;
    return (await db.$count(cloudInstances, and(eq(cloudInstances.id, id), isUnchecked))) > 0;
  });

/**
 * Has all active instances checked, as a run; one that is under way is the run to watch. Throws 429 `POLL_LOCKED` within ten seconds
 * for a tenant.
 */
export async function startCheckOfAll(ctx: UserContext): Promise<{ runId: string }> {
  const payload = { tenantId: ctx.tenantId };
  const by = { startedBy: ctx.actor.id };
  const runId = await ctx.tx(async (tx) => {
    await takeTurn(tx, perTenant, ctx.tenantId);
    // Whoever comes at the same time has no turn, so nobody adds another one in between.
    return (await joinRun(tx, checkAllInstances, payload, by)) ?? (await addRun(tx, checkAllInstances, payload, by));
  });
  await ctx.enqueue(checkAllInstances, payload, { runId });
  return { runId };
}

const takeTurn = (tx: Tx, limit: RateLimit, subject: string): Promise<void> =>
  consumeOrThrow(tx, limit, subject, (retryAfterSec) => new PortalError('POLL_LOCKED', undefined, { retryAfterSec }));
