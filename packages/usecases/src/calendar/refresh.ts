import { setTimeout as pause } from 'node:timers/promises';
import { and, eq, isNotNull, isNull, lt, ne, or, sql } from 'drizzle-orm';
import { CalendarFailure } from '@portal/connectors/calendar/calendar-access';
import type { Tx } from '@portal/db/open';
import { calendarSources } from '@portal/db/schema/calendar';
import type { CalendarError } from '@portal/domain/calendar/sources';
import { newId } from '@portal/domain/ids';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { withNewFiles } from '@portal/platform/files/with-new-files';
import { lockTenant } from '@portal/platform/lock-tenant';
import { resource } from '@portal/platform/resource';
import { sizeOf } from './calendar-work.ts';
import { type EventRange, isCovered, type KnownState, readSource } from './read-source.ts';
import { accessTo, sourceColumns } from './stored-source.ts';

/** From the request to the last byte (15 s). */
const timeoutMs = 15 * SECOND;
/** Longer than a read takes, so that no other process starts one meanwhile. */
const claimSec = 30;
/**
 * Limit for all calendars of a tenant: thousands of ordinary ones, which take far less than the 10 MiB allowed for one. Twenty calendars of
 * that size for each account would fill a disk.
 */
const maxBytesOfTenant = 1024 * 1024 * 1024;
/** How long a read stays fresh, and how long to wait after a failure. */
export const freshness = sql`case when ${calendarSources.error} is null then interval '5 minutes' else interval '1 minute' end`;

/** A source's state: the stored events and the last error. */
export const stateColumns = {
  id: calendarSources.id,
  bodyPath: calendarSources.bodyPath,
  error: calendarSources.error,
  coversFrom: calendarSources.coversFrom,
  coversTo: calendarSources.coversTo,
};

export interface SourceState {
  id: string;
  bodyPath: string | null;
  error: CalendarError | null;
}

/** Reads in progress in this process, by source and window. */
const readsInProgress = resource(() => new Map<string, Promise<SourceState | undefined>>());

/**
 * The state of a source after a fresh read by this or another process. All callers share one read of a source at a time. Undefined if the
 * source has been deleted.
 */
export function refreshed(
  ctx: TenantContext,
  userId: string,
  id: string,
  window: EventRange,
): Promise<SourceState | undefined> {
  const all = readsInProgress(ctx);
  const key = `${id} ${window.from.getTime()} ${window.to.getTime()}`;
  let reading = all.get(key);
  if (!reading) {
    reading = refresh(ctx, userId, id, window)
      .then(() => stateOf(ctx, id))
      .finally(() => all.delete(key));
    all.set(key, reading);
  }
  return reading;
}

async function stateOf(ctx: TenantContext, id: string): Promise<SourceState | undefined> {
  const [state] = await ctx.read((db) =>
    db.select(stateColumns).from(calendarSources).where(eq(calendarSources.id, id)),
  );
  return state;
}

async function refresh(ctx: TenantContext, userId: string, id: string, window: EventRange): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (let claim = newId(); performance.now() < until; await pause(200)) {
    const source = await claimed(ctx, id, claim);
    if (source)
      return readClaimed(ctx, userId, source, claim, {
        window,
        timeoutMs: Math.max(until - performance.now(), 5 * SECOND),
      });
    if (!(await stateOf(ctx, id))) return;
  }
}

/** Claims a source for a read; undefined while another process holds the claim, or if the source has been deleted. */
async function claimed(ctx: TenantContext, id: string, claim: string) {
  const [source] = await ctx.tx((tx) =>
    tx
      .update(calendarSources)
      .set({ claim, claimedUntil: sql`now() + make_interval(secs => ${claimSec})` })
      .where(
        and(
          eq(calendarSources.id, id),
          or(isNull(calendarSources.claimedUntil), lt(calendarSources.claimedUntil, sql`now()`)),
        ),
      )
      .returning({
        ...sourceColumns,
        ...stateColumns,
        validators: calendarSources.validators,
        isFresh: sql<boolean>`coalesce(${calendarSources.checkedAt} > now() - ${freshness}, false)`,
      }),
  );
  return source;
}

type ClaimedSource = NonNullable<Awaited<ReturnType<typeof claimed>>>;

/** Whether a source needs a read: the last one is too old, or a server was asked for another window. */
export const isDue = (source: KnownState & { kind: string; isFresh: boolean; error: unknown }, window: EventRange) =>
  !source.isFresh || (source.kind === 'caldav' && source.error === null && !isCovered(window, source));

async function readClaimed(
  ctx: TenantContext,
  userId: string,
  source: ClaimedSource,
  claim: string,
  limits: ReadLimits,
): Promise<void> {
  // Another process may have read it while this call waited.
  const outcome = isDue(source, limits.window) ? await readState(ctx, userId, source, limits) : { found: null };
  const found = 'found' in outcome ? outcome.found : null;
  const staleFile = await withNewFiles(ctx.files, found?.bodyPath ? [found.bodyPath] : [], () =>
    ctx.tx(async (tx) => {
      // The lock makes concurrent transactions see each other's files in the sum.
      if (found?.bodyPath) await lockTenant(tx, ctx.tenantId);
      const [now] = await tx
        .select({ claim: calendarSources.claim, bodyPath: calendarSources.bodyPath })
        .from(calendarSources)
        .where(eq(calendarSources.id, source.id))
        .for('update');
      // The source was deleted or changed meanwhile, or another process took it over: this result is outdated.
      if (now?.claim !== claim) return found?.bodyPath ?? null;
      const fits =
        !found?.bodyPath || (await bytesOfOthers(tx, source.id)) + (found.sizeBytes ?? 0) <= maxBytesOfTenant;
      // Without space the previous file stays, so that its reader loses nothing.
      const stored: Found | null = fits ? found : { error: 'storageFull' };
      await tx
        .update(calendarSources)
        .set({ ...stored, ...(stored && { checkedAt: sql`now()` }), claim: null, claimedUntil: null })
        .where(eq(calendarSources.id, source.id));
      if (!found?.bodyPath) return null;
      return fits ? now.bodyPath : found.bodyPath;
    }),
  );
  if (staleFile !== null) await ctx.files.remove(staleFile);
  if ('failure' in outcome) throw outcome.failure;
}

/** Bytes the tenant stores for all other calendars. */
async function bytesOfOthers(tx: Tx, id: string): Promise<number> {
  const [row] = await tx
    .select({ bytes: sql<number>`coalesce(sum(${calendarSources.sizeBytes}), 0)::float8` })
    .from(calendarSources)
    .where(and(ne(calendarSources.id, id), isNotNull(calendarSources.bodyPath)));
  return row?.bytes ?? 0;
}

interface ReadLimits {
  window: EventRange;
  timeoutMs: number;
}

/** The columns a read changes: all of them, or only the error. */
interface Found {
  error: CalendarError | null;
  bodyPath?: string;
  sizeBytes?: number | null;
  validators?: unknown;
  coversFrom?: Date | null;
  coversTo?: Date | null;
}

/** The result of a read. A `failure` is not the calendar's fault and is not stored, so the next call may try at once. */
async function readState(
  ctx: TenantContext,
  userId: string,
  source: ClaimedSource,
  { window, timeoutMs: left }: ReadLimits,
): Promise<{ found: Found } | { failure: unknown }> {
  try {
    const access = accessTo(ctx, source, { username: source.username }, left);
    const { bodyPath, validators, covers } = await readSource(ctx, userId, source.kind, access, source, window);
    const { from: coversFrom = null, to: coversTo = null } = covers ?? {};
    const path = bodyPath ?? source.bodyPath;
    const sizeBytes = path === null ? null : await sizeOf(ctx, path);
    const found = { error: null, validators, coversFrom, coversTo, sizeBytes };
    return { found: { ...found, ...(bodyPath !== null && { bodyPath }) } };
  } catch (error) {
    return error instanceof CalendarFailure ? { found: { error: error.error } } : { failure: error };
  }
}
