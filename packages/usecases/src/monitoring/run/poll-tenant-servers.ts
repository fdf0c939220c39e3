import { and, asc, eq, isNull, ne, or, sql } from 'drizzle-orm';
import { monitoredServers, serverStatuses } from '@portal/db/schema/monitoring/servers';
import { MINUTE, SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import type { Work } from '@portal/platform/jobs/handler';
import { jobLimits, urgency } from '@portal/platform/limits';
import { resource } from '@portal/platform/resource';
import { openSemaphore } from '@portal/platform/semaphore';
import { hasModuleOn } from '../../modules/module-access.ts';
import { smallestInterval } from '../poll-plan.ts';
import { pollServer } from './poll-server.ts';
import { isPollOpen, lostPolls, openServerRows } from './server-rows.ts';

const inSlotOf = resource(() => openSemaphore(jobLimits.serverPolls));
const aloneOf = resource(() => openSemaphore(jobLimits.suspectServerPolls));

/** A server that took longer counts as one that may hang. */
const slowMs = 10 * SECOND;
/** Servers that hung and have not had their turn by then wait for the next run, so that this one ends before that begins. */
const patienceMs = 45 * SECOND;
/** Looks in a row that ended their process before the server rests. */
const maxLost = 2;
/** Longest a run waits for places at all. */
const longestMs = 10 * MINUTE;

/**
 * Looks at every active server of the tenant, each at its own time; what is found of one is written when that one is through. One that
 * has just refused the sign-in is left as it is. One whose look ended its process is asked once more, after all others; when that ends
 * its process as well, it rests.
 */
export async function pollTenantServers(
  ctx: TenantContext,
  { run, signal, progress }: Work,
  { patience = patienceMs }: { patience?: number } = {},
): Promise<void> {
  if (!run) throw new Error('A look at servers begins with a run.');
  if (!(await hasModuleOn(ctx, 'virtualization'))) return;
  const rows = openServerRows(ctx, run);
  const { servers, broken } = await serversToPoll(ctx, run.id);
  await Promise.all(broken.map(rows.rest));
  const inSlot = inSlotOf(ctx);
  const alone = aloneOf(ctx);
  const atHost = openSemaphore(jobLimits.serverPollsAtHost);
  const late = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  let done = 0;
  const lookAt = async (server: (typeof servers)[number], impatient: AbortSignal) => {
    const waiting = {
      urgency: server.urgency,
      signal: server.isSuspect || server.urgency === urgency.hung ? impatient : late,
    };
    let hasBegun = false;
    try {
      const poll = () => {
        hasBegun = true;
        return pollServer(ctx, server.id, { rows, signal });
      };
      const pollInSlot = () => (server.isSuspect ? alone : inSlot)(poll, { ...waiting, key: ctx.tenantId });
      await atHost(pollInSlot, { ...waiting, key: server.host });
    } catch (error) {
      // One that did not have its turn stays as it is; the next run begins with those that have waited longest.
      if (hasBegun || signal.aborted) throw error;
    }
    done += 1;
    progress(done, servers.length);
  };
  const pollAll = (some: typeof servers) => {
    const impatient = AbortSignal.any([signal, AbortSignal.timeout(patience)]);
    return Promise.allSettled(some.map((server) => lookAt(server, impatient)));
  };
  const suspects = servers.filter(({ isSuspect }) => isSuspect);
  if (suspects.length > 0)
    ctx.log.warn(
      { tenantId: ctx.tenantId, serverIds: suspects.map(({ id }) => id) },
      'looks ended with their process, and their servers are asked once more',
    );
  const ended = await pollAll(servers.filter(({ isSuspect }) => !isSuspect));
  ended.push(...(await pollAll(suspects)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (!failed) return;
  await rows
    .giveBack()
    .catch((error: unknown) =>
      ctx.log.warn({ err: error, tenantId: ctx.tenantId }, 'looks that were stopped could not be given back'),
    );
  signal.throwIfAborted();
  throw failed.reason;
}

/** When the last look at a server began. */
const begunAt = sql`(${serverStatuses.checkedAt} - make_interval(secs => ${serverStatuses.tookMs} / 1000.0))`;
/**
 * Refused the sign-in less than an interval ago, with the settings it still has: servers count failures, and lock out who makes many.
 * Looks by the plan come some seconds more or less than an interval after each other, and are not meant.
 */
const isRefused = sql`(${serverStatuses.failure} = 'zugang' and ${monitoredServers.updatedAt} <= ${begunAt}
  and ${begunAt} > now() - make_interval(mins => ${smallestInterval}) + interval '30 seconds')`;

/** Those this run has not looked at yet, whoever has been waiting longest first. */
async function serversToPoll(ctx: TenantContext, runId: string) {
  const rows = await ctx.read((db) =>
    db
      .select({
        id: monitoredServers.id,
        address: monitoredServers.address,
        missed: serverStatuses.missed,
        tookMs: serverStatuses.tookMs,
        isOpen: isPollOpen,
        lost: lostPolls,
      })
      .from(monitoredServers)
      .leftJoin(serverStatuses, eq(serverStatuses.id, monitoredServers.id))
      .where(
        and(
          eq(monitoredServers.isActive, true),
          sql`(${monitoredServers.restsUntil} <= now()) is not false`,
          or(isNull(serverStatuses.runId), and(ne(serverStatuses.runId, runId), sql`${isRefused} is not true`)),
        ),
      )
      .orderBy(asc(sql`coalesce(${serverStatuses.checkedAt}, '-infinity')`), asc(monitoredServers.id)),
  );
  const isBroken = ({ isOpen, lost }: (typeof rows)[number]) => isOpen && lost >= maxLost;
  const servers = rows
    .filter((row) => !isBroken(row))
    .map(({ id, address, missed, tookMs, lost }) => ({
      id,
      isSuspect: lost > 0,
      host: new URL(address).hostname,
      urgency:
        missed === null ? urgency.unknown : missed > 0 || (tookMs ?? 0) > slowMs ? urgency.hung : urgency.answered,
    }));
  return { servers, broken: rows.filter(isBroken).map(({ id }) => id) };
}
