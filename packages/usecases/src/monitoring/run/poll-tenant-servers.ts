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

/** A server that took longer last time counts as likely to hang. */
const slowMs = 10 * SECOND;
/** A server likely to hang that has no slot by then waits for the next run, so that this run ends before the next one starts. */
const slowServerWaitMs = 45 * SECOND;
/** Polls in a row that ended their process before the server rests. */
const maxLost = 2;
/** How long a run waits for slots at most. */
const maxRunWaitMs = 10 * MINUTE;

/**
 * Polls every active server of the tenant and stores each result as soon as its poll ends. Skips servers that have just refused the
 * sign-in. A server whose poll ended the process is polled once more, after all others. If that poll ends its process as well, the
 * server rests.
 */
export async function pollTenantServers(
  ctx: TenantContext,
  { run, signal, progress }: Work,
  { maxWaitMs = slowServerWaitMs }: { maxWaitMs?: number } = {},
): Promise<void> {
  if (!run) throw new Error('A poll of servers needs a run.');
  if (!(await hasModuleOn(ctx, 'virtualization'))) return;
  const rows = openServerRows(ctx, run);
  const { servers, broken } = await serversToPoll(ctx, run.id);
  await Promise.all(broken.map(rows.rest));
  const inSlot = inSlotOf(ctx);
  const alone = aloneOf(ctx);
  const atHost = openSemaphore(jobLimits.serverPollsAtHost);
  const runWait = AbortSignal.any([signal, AbortSignal.timeout(maxRunWaitMs)]);
  let done = 0;
  const pollOne = async (server: (typeof servers)[number], slowServerWait: AbortSignal) => {
    const slot = {
      urgency: server.urgency,
      signal: server.isSuspect || server.urgency === urgency.hung ? slowServerWait : runWait,
    };
    let hasBegun = false;
    try {
      const poll = () => {
        hasBegun = true;
        return pollServer(ctx, server.id, { rows, signal });
      };
      const pollInSlot = () => (server.isSuspect ? alone : inSlot)(poll, { ...slot, key: ctx.tenantId });
      await atHost(pollInSlot, { ...slot, key: server.host });
    } catch (error) {
      // A server without a slot keeps its status. The next run starts with the servers that have waited longest.
      if (hasBegun || signal.aborted) throw error;
    }
    done += 1;
    progress(done, servers.length);
  };
  const pollAll = (some: typeof servers) => {
    const slowServerWait = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)]);
    return Promise.allSettled(some.map((server) => pollOne(server, slowServerWait)));
  };
  const suspects = servers.filter(({ isSuspect }) => isSuspect);
  if (suspects.length > 0)
    ctx.log.warn(
      { tenantId: ctx.tenantId, serverIds: suspects.map(({ id }) => id) },
      'polls ended with their process; their servers are polled once more',
    );
  const ended = await pollAll(servers.filter(({ isSuspect }) => !isSuspect));
  ended.push(...(await pollAll(suspects)));
  const failed = ended.find((one) => one.status === 'rejected');
  if (!failed) return;
  await rows
    .releaseUnfinished()
    .catch((error: unknown) =>
      ctx.log.warn({ err: error, tenantId: ctx.tenantId }, 'stopped polls could not be released'),
    );
  signal.throwIfAborted();
  throw failed.reason;
}

/** When the last poll of a server began. */
const begunAt = sql`(${serverStatuses.checkedAt} - make_interval(secs => ${serverStatuses.tookMs} / 1000.0))`;
/**
 * The server refused the sign-in less than an interval ago, and its settings have not changed. Servers count failed sign-ins and lock
 * accounts out. Longer pauses after several refusals would make the status look outdated. The 30 seconds let planned polls through, whose
 * distance varies by some seconds.
 */
const isRefused = sql`(${serverStatuses.failure} = 'zugang' and ${monitoredServers.updatedAt} <= ${begunAt}
  and ${begunAt} > now() - make_interval(mins => ${smallestInterval}) + interval '30 seconds')`;

/** The servers this run has not polled yet, the longest waiting first. */
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
