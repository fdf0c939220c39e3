import { appendFile, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { downloadEvents, findCalendars } from '@portal/connectors/calendar/caldav';
import { type CalendarAccess, CalendarFailure, maxCalendarBytes } from '@portal/connectors/calendar/calendar-access';
import { downloadIcs, type IcsValidators } from '@portal/connectors/calendar/ics';
import { newId } from '@portal/domain/ids';
import { DAY } from '@portal/domain/time';
import type { TenantContext } from '@portal/platform/context';
import { parseCollectionsInSandbox, parseEventsInSandbox } from './calendar-work.ts';

/** Stores the file that `fill` writes to `place` and returns its path; null if `fill` returns false. */
export const receive = (
  { files }: Pick<TenantContext, 'files'>,
  extension: 'ics' | 'xml',
  fill: (place: string) => Promise<boolean>,
): Promise<string | null> => files.receive('calendars', newId(), extension, fill);

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
  let validators: IcsValidators | null = null;
  const bodyPath = await receive(ctx, 'ics', async (place) => {
    validators = await downloadIcs(access, place, before);
    return validators !== null;
  });
  return { bodyPath, validators: validators ?? before, covers: null };
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
  const bodyPath = await receive(ctx, 'ics', async (place) => {
    let remainingBytes = maxCalendarBytes;
    await writeFile(place, '', { flag: 'wx', mode: 0o600 });
    for (const calendar of calendars) {
      const answer = await receive(ctx, 'xml', async (answered) => {
        await downloadEvents(access, calendar, covers, answered);
        return true;
      });
      if (answer === null) continue;
      try {
        const events = await parseEventsInSandbox(ctx, userId, answer);
        remainingBytes -= events?.length ?? 0;
        if (events === null || remainingBytes < 0) throw new CalendarFailure('invalid');
        await appendFile(place, events);
      } finally {
        await ctx.files.remove(answer);
      }
    }
    return true;
  });
  return { bodyPath, validators, covers };
}

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
