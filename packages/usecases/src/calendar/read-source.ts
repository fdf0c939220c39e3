import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { downloadEvents, findCalendars } from '@portal/connectors/calendar/caldav';
import { type CalendarAccess, CalendarFailure, maxCalendarBytes } from '@portal/connectors/calendar/calendar-access';
import { downloadIcs, type IcsValidators } from '@portal/connectors/calendar/ics';
import { newId } from '@portal/domain/ids';
import { DAY } from '@portal/domain/time';
import { throwUnwritable } from '@portal/domain/unwritable';
import type { TenantContext } from '@portal/platform/context';
import { openScratchFile } from '@portal/platform/files/scratch-file';
import { parseCollectionsInSandbox, parseEventsInSandbox } from './calendar-work.ts';

/** The stored result of a source's last read. */
export interface KnownState {
  validators: unknown;
  bodyPath: string | null;
  coversFrom: Date | null;
  coversTo: Date | null;
}

export interface EventRange {
  from: Date;
  to: Date;
}

/** The result of a read; `bodyPath` is null if the source has not changed. */
export interface ReadState {
  bodyPath: string | null;
  validators: unknown;
  /** The window a calendar server was asked for; null for an events file, which holds everything. */
  covers: EventRange | null;
}

/**
 * Reads a source into a new file if it has changed. Throws a CalendarFailure and then leaves no file.
 */
export const readSource = (
  ctx: TenantContext,
  userId: string,
  kind: 'ics' | 'caldav',
  access: CalendarAccess,
  known: KnownState,
  window: EventRange,
): Promise<ReadState> =>
  kind === 'ics' ? readFile(ctx, access, known) : readServer(ctx, userId, access, known, window);

async function readFile(ctx: TenantContext, access: CalendarAccess, known: KnownState): Promise<ReadState> {
  const before = known.bodyPath === null ? {} : ((known.validators ?? {}) as IcsValidators);
  await using file = await openScratchFile(ctx.config);
  const validators = await downloadIcs(access, file, before);
  if (validators === null) return { bodyPath: null, validators: before, covers: null };
  return { bodyPath: await stored(ctx, file), validators, covers: null };
}

async function readServer(
  ctx: TenantContext,
  userId: string,
  access: CalendarAccess,
  known: KnownState,
  window: EventRange,
): Promise<ReadState> {
  const calendars = await findCalendars(access, (body) => parseCollectionsInSandbox(ctx, userId, body));
  const covers = rangeAround(window, ctx.now());
  const validators = Object.fromEntries(calendars.map(({ url, version }) => [url, version]));
  const isSame =
    known.bodyPath !== null &&
    isCovered(window, known) &&
    !Object.values(validators).includes(null) &&
    // The database returns the keys in another order.
    isDeepStrictEqual(validators, known.validators);
  if (isSame && known.coversFrom && known.coversTo)
    return { bodyPath: null, validators, covers: { from: known.coversFrom, to: known.coversTo } };
  await using file = await openScratchFile(ctx.config);
  let remainingBytes = maxCalendarBytes;
  for (const calendar of calendars) {
    await using answer = await openScratchFile(ctx.config);
    await downloadEvents(access, calendar, covers, answer);
    const events = await parseEventsInSandbox(ctx, userId, () => buffer(fromStart(answer)));
    remainingBytes -= events?.length ?? 0;
    if (events === null || remainingBytes < 0) throw new CalendarFailure('invalid');
    await file.appendFile(events).catch(throwUnwritable);
  }
  return { bodyPath: await stored(ctx, file), validators, covers };
}

/** Stores what a scratch file holds and returns its path. */
async function stored({ files }: TenantContext, file: FileHandle): Promise<string> {
  const limits = { maxBytes: maxCalendarBytes };
  const { path } = await files.write('calendars', newId(), 'ics', fromStart(file), limits);
  return path;
}

const fromStart = (file: FileHandle): Readable => file.createReadStream({ start: 0 });

/** Whether the last read covers the whole window. */
export const isCovered = ({ from, to }: EventRange, { coversFrom, coversTo }: KnownState): boolean =>
  coversFrom !== null && coversTo !== null && coversFrom <= from && coversTo >= to;

/** The window to ask a server for: larger than needed now, so that turning a page needs no further request. */
function rangeAround(window: EventRange, now: Date): EventRange {
  const around = (from: Date, to: Date, daysLater: number) => ({
    from: new Date(from.getTime() - 92 * DAY),
    to: new Date(to.getTime() + daysLater * DAY),
  });
  const usual = around(now, now, 400);
  const isUsual = usual.from <= window.from && usual.to >= window.to;
  return isUsual ? usual : around(window.from, window.to, 92);
}
