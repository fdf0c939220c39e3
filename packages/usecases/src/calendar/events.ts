import { and, asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { calendarSources } from '@portal/db/schema/calendar';
import { MINUTE, SECOND } from '@portal/domain/time';
import { answerInTime } from '@portal/platform/answer-in-time';
import type { UserContext } from '@portal/platform/context';
import { resource } from '@portal/platform/resource';
import { taskOf } from '@portal/platform/sandbox/task';
import { TimeoutError, withTimeout } from '@portal/platform/timeout';
import { openAnswerCache } from './answer-cache.ts';
import { bytesOf, MissingFileError, tooBusy, runCalendarTask } from './calendar-work.ts';
import type { Expansion, run as expand } from './expansion-task.ts';
import type { MergeInput, run as merge } from './merge-task.ts';
import type { EventRange } from './read-source.ts';
import { freshness, isDue, refreshed, type SourceState, stateColumns } from './refresh.ts';

const limits = { timeoutMs: 10 * SECOND, maxMemoryMb: 400, maxOutputBytes: 16 * 1024 * 1024 };
const expanding = taskOf<typeof expand>(new URL('expansion-task.ts', import.meta.url), limits);
const merging = taskOf<typeof merge>(new URL('merge-task.ts', import.meta.url), limits);

/**
 * The file under a path never changes, so a result computed from it stays valid while the row names that path. The exception is a result
 * a busy machine had no time to complete.
 */
const expansions = resource(() => openAnswerCache<Expanded>(16 * 1024 * 1024));
const answers = resource(() => openAnswerCache<{ json: Uint8Array; bytes: number; until: number }>(16 * 1024 * 1024));
const lateMs = MINUTE;
/** How long a request waits for calendars to be read; the rest of its time is for computing the events. */
const maxReadMs = 12 * SECOND;

interface Expanded {
  expansion: Expansion;
  bytes: number;
  until: number;
}

const activeSources = prepared<{ userId: string }>()('calendar_states', (db) =>
  db
    .select({
      ...stateColumns,
      kind: calendarSources.kind,
      isFresh: sql<boolean>`coalesce(${calendarSources.checkedAt} > now() - ${freshness}, false)`,
    })
    .from(calendarSources)
    .where(and(eq(calendarSources.userId, sql.placeholder('userId')), eq(calendarSources.isActive, true)))
    .orderBy(asc(calendarSources.id)),
);

/**
 * The events of the caller's active calendars between two instants, as the JSON of a CalendarEvents, which may be large. First reads, in
 * parallel, the calendars that were not read for five minutes. For a calendar that fails, or takes longer than 12 s, the answer
 * contains its error and the events last read; a slow read continues for the next call. Throws 503 after 15 s.
 *
 * Events are computed from the file for each window instead of stored in rows: rows would be made for windows that no user opens, and again
 * with each change of a rule or of the time zones. Reminders of events, or a search in them, would need rows.
 */
export const listEvents = (ctx: UserContext, window: EventRange): Promise<Uint8Array> =>
  answerInTime('Your calendars are still being read. Please try again in a moment.', (signal) =>
    eventsInTime(ctx, window, signal),
  );

async function eventsInTime(ctx: UserContext, window: EventRange, signal: AbortSignal): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await eventsOf(ctx, window);
    } catch (error) {
      if (attempt === 3 || signal.aborted || !(error instanceof MissingFileError)) throw error;
      await forgetFile(ctx, error.path);
    }
  }
}

/** Makes the next attempt read the source whose file is missing. Does nothing if its row names another file by now. */
async function forgetFile(ctx: UserContext, path: string): Promise<void> {
  await ctx.tx((tx) =>
    tx
      .update(calendarSources)
      .set({ bodyPath: null, checkedAt: null, validators: null })
      .where(eq(calendarSources.bodyPath, path)),
  );
}

async function eventsOf(ctx: UserContext, window: EventRange): Promise<Uint8Array> {
  const userId = ctx.actor.id;
  const rows = await ctx.run(activeSources, { userId });
  const states = await Promise.all(
    rows.map((row) =>
      isDue({ ...row, validators: null }, window) ? refreshedInTime(ctx, row, window) : Promise.resolve(row),
    ),
  );
  const sources = states.filter((state): state is SourceState => state !== undefined);
  const span = `${window.from.getTime()} ${window.to.getTime()}`;
  const key = `${span} ${sources.map(({ id, bodyPath, error }) => `${id} ${bodyPath} ${error}`).join(' ')}`;
  const { json } = await answers(ctx)(key, async () => {
    const { input, until } = await mergeInputOf(ctx, sources, window, span);
    const made = await runCalendarTask(ctx, userId, merging, async () => input);
    if (made === null) throw tooBusy();
    return { json: made, bytes: made.length, until };
  });
  return json;
}

async function refreshedInTime(ctx: UserContext, known: SourceState, window: EventRange) {
  try {
    return await withTimeout(refreshed(ctx, ctx.actor.id, known.id, window), maxReadMs);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    return { ...known, error: 'timeout' as const };
  }
}

async function mergeInputOf(
  ctx: UserContext,
  sources: SourceState[],
  { from, to }: EventRange,
  span: string,
): Promise<{ input: MergeInput; until: number }> {
  const expanded = await Promise.all(
    sources.map(async ({ id: sourceId, bodyPath, error }) => {
      if (bodyPath === null) return { sourceId, error, expansion: null, until: Infinity };
      const { expansion, until } = await expansions(ctx)(`${bodyPath} ${span}`, async () => {
        const read = async () => ({ body: await bytesOf(ctx, bodyPath), from: from.getTime(), to: to.getTime() });
        const made = (await runCalendarTask(ctx, ctx.actor.id, expanding, read)) ?? unreadable;
        const until = made.isLate ? performance.now() + lateMs : Infinity;
        return { expansion: made, bytes: made.events.length + made.findings.lines.length * bytesOfLine, until };
      });
      return { sourceId, error, expansion, until };
    }),
  );
  const input: MergeInput = { sources: [], errors: [] };
  let remainingBytes = maxBytes;
  for (const { sourceId, error, expansion } of expanded) {
    remainingBytes -= expansion?.events.length ?? 0;
    if (expansion && remainingBytes >= 0) input.sources.push({ sourceId, events: expansion.events });
    const isWhole = expansion === null || (expansion.isWhole && remainingBytes >= 0);
    const { lines, count: lineCount } = expansion?.findings ?? noFindings;
    const shown = error ?? (isWhole && lineCount === 0 ? null : 'invalid');
    if (shown !== null) input.errors.push({ sourceId, error: shown, ...(lineCount > 0 && { lines, lineCount }) });
  }
  return { input, until: Math.min(...expanded.map(({ until }) => until)) };
}

/** Approximate memory of one finding. */
const bytesOfLine = 500;

/** Limit for one answer: far more than twenty full calendars with ordinary texts take. */
const maxBytes = 12 * 1024 * 1024;

const noFindings = { lines: [], count: 0 };

/** The result for a file that ends the process reading it, possibly because of its time limit. */
const unreadable: Expansion = { events: Buffer.from('[]'), isWhole: false, isLate: true, findings: noFindings };
