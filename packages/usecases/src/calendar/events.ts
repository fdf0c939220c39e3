import { and, asc, eq, sql } from 'drizzle-orm';
import { prepared } from '@portal/db/prepared';
import { calendarSources } from '@portal/db/schema/calendar';
import { MINUTE, SECOND } from '@portal/domain/time';
import { answerInTime } from '@portal/platform/answer-in-time';
import type { UserContext } from '@portal/platform/context';
import { resource } from '@portal/platform/resource';
import { taskOf } from '@portal/platform/sandbox/task';
import { TimeoutError, withTimeout } from '@portal/platform/timeout';
import { bytesOf, MissingFileError, tooBusy, runCalendarTask } from './calendar-work.ts';
import type { Expansion, run as expand } from './expansion-task.ts';
import { keepAnswers } from './kept-answers.ts';
import type { MergeOrder, run as merge } from './merge-task.ts';
import type { EventRange } from './read-source.ts';
import { freshness, isDue, refreshed, type SourceState, stateColumns } from './refresh.ts';

const limits = { timeoutMs: 10 * SECOND, maxMemoryMb: 400, maxOutputBytes: 16 * 1024 * 1024 };
const expanding = taskOf<typeof expand>(new URL('expansion-task.ts', import.meta.url), limits);
const merging = taskOf<typeof merge>(new URL('merge-task.ts', import.meta.url), limits);

/**
 * What lies under a path never changes, so an answer made of it is right for as long as that path is the row’s: unless it is what a
 * machine came to that was busy with something else.
 */
const expansions = resource(() => keepAnswers<Expanded>(16 * 1024 * 1024));
const answers = resource(() => keepAnswers<{ json: Uint8Array; bytes: number; until: number }>(16 * 1024 * 1024));
const lateMs = MINUTE;
/** How long a call waits for calendars that are read: what is left of its time works out the events. */
const readingMs = 12 * SECOND;

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
 * What the caller's active calendars hold between two instants, as the JSON of a CalendarEvents, which may be large. Calendars that were
 * not read for five minutes are asked before, all at once; of one that fails its error is told beside what was last read, and so is
 * that of one that takes longer than 12 s, which is read on for the next call. Throws 503 after 15 s.
 */
export const listEvents = (ctx: UserContext, window: EventRange): Promise<Uint8Array> =>
  answerInTime('Your calendars are still being read. Please look again in a moment.', (patience) =>
    eventsInTime(ctx, window, patience),
  );

async function eventsInTime(ctx: UserContext, window: EventRange, patience: AbortSignal): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await eventsOf(ctx, window);
    } catch (error) {
      if (attempt === 3 || patience.aborted || !(error instanceof MissingFileError)) throw error;
      await forgetFile(ctx, error.path);
    }
  }
}

/** Has a source read anew whose file is gone. One whose row names another file by now has been. */
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
    const { order, until } = await orderOf(ctx, sources, window, span);
    const made = await runCalendarTask(ctx, userId, merging, async () => order);
    if (made === null) throw tooBusy();
    return { json: made, bytes: made.length, until };
  });
  return json;
}

async function refreshedInTime(ctx: UserContext, known: SourceState, window: EventRange) {
  try {
    return await withTimeout(refreshed(ctx, ctx.actor.id, known.id, window), readingMs);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    return { ...known, error: 'timeout' as const };
  }
}

async function orderOf(
  ctx: UserContext,
  sources: SourceState[],
  { from, to }: EventRange,
  span: string,
): Promise<{ order: MergeOrder; until: number }> {
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
  const order: MergeOrder = { sources: [], errors: [] };
  let room = maxBytes;
  for (const { sourceId, error, expansion } of expanded) {
    room -= expansion?.events.length ?? 0;
    if (expansion && room >= 0) order.sources.push({ sourceId, events: expansion.events });
    const isWhole = expansion === null || (expansion.isWhole && room >= 0);
    const { lines, count: lineCount } = expansion?.findings ?? none;
    const shown = error ?? (isWhole && lineCount === 0 ? null : 'invalid');
    if (shown !== null) order.errors.push({ sourceId, error: shown, ...(lineCount > 0 && { lines, lineCount }) });
  }
  return { order, until: Math.min(...expanded.map(({ until }) => until)) };
}

/** About what a line that is not shown as it is written takes in memory. */
const bytesOfLine = 500;

/** Of one answer: far more than twenty full calendars of ordinary words take. */
const maxBytes = 12 * 1024 * 1024;

const none = { lines: [], count: 0 };

/** Of a file that ends the process which reads it, maybe for want of time. */
const unreadable: Expansion = { events: Buffer.from('[]'), isWhole: false, isLate: true, findings: none };
