import { findCalendars } from '@portal/connectors/calendar/caldav';
import { CalendarFailure, type CalendarAccess } from '@portal/connectors/calendar/calendar-access';
import { downloadIcs } from '@portal/connectors/calendar/ics';
import { addressOf, type CalendarSourceTest, type CalendarTestResult } from '@portal/domain/calendar/sources';
import { busy, notFound } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { openScratchFile } from '@portal/platform/files/scratch-file';
import { callLimits } from '@portal/platform/limits';
import { openSemaphore } from '@portal/platform/semaphore';
import { beginSettingsTest } from '@portal/platform/settings-trial';
import { TimeoutError, withTimeout } from '@portal/platform/timeout';
import { recordAudit } from './audit.ts';
import { parseCollectionsInSandbox } from './calendar-work.ts';
import { accessTo, enteredAddress, ownSource, type StoredSource } from './stored-source.ts';

const inSlot = openSemaphore({
  ...callLimits.calendarTests,
  refusal: () => busy('Several calendars are already being tested. Please try again in a moment.', 15),
});

/** Below the 15 s a test may take. */
const timeoutMs = 14 * SECOND;

/**
 * Tests a calendar before it is saved; blank fields use the values of the source `id`. Problems with the calendar are part of the answer.
 * Throws 404 for an unknown `id`, 400 without an address, and 429 after ten tests in a minute.
 */
export async function testSource(ctx: UserContext, test: CalendarSourceTest): Promise<CalendarTestResult> {
  return testWith(ctx, test.id ? await storedFor(ctx, test.id) : undefined, test);
}

/** Tests a stored calendar. Throws 404, and 429 after ten tests in a minute. */
export async function testStoredSource(ctx: UserContext, id: string): Promise<CalendarTestResult> {
  const stored = await storedFor(ctx, id);
  return testWith(ctx, stored, { kind: stored.kind });
}

async function storedFor(ctx: UserContext, id: string): Promise<StoredSource> {
  const stored = await ctx.read((db) => ownSource(db, ctx, id));
  if (!stored) throw notFound();
  return stored;
}

async function testWith(
  ctx: UserContext,
  stored: StoredSource | undefined,
  { kind, password, ...form }: Omit<CalendarSourceTest, 'id'>,
): Promise<CalendarTestResult> {
  const entered = enteredAddress(form.url, kind, stored);
  const url = entered === undefined ? undefined : addressOf(kind, entered);
  const { username = stored?.username ?? null } = form;
  try {
    const access = accessTo(ctx, stored, { url, username, password }, timeoutMs);
    await beginSettingsTest(ctx, {
      action: 'calendar_sources.test',
      recordAudit,
      subject: 'calendar',
      server: new URL(access.url.reveal()).host,
      input: password,
      hasStoredSecret: Boolean(stored?.password),
      each: 'user',
    });
    return await inSlot(() => withTimeout(readForTest(ctx, kind, access), timeoutMs + SECOND / 2), {
      key: ctx.tenantId,
    });
  } catch (error) {
    const failure = error instanceof TimeoutError ? new CalendarFailure('timeout') : error;
    if (!(failure instanceof CalendarFailure)) throw error;
    return { ok: false, error: failure.error };
  }
}

async function readForTest(
  ctx: UserContext,
  kind: StoredSource['kind'],
  access: CalendarAccess,
): Promise<CalendarTestResult> {
  if (kind === 'caldav') {
    const calendars = await findCalendars(access, (body) => parseCollectionsInSandbox(ctx, ctx.actor.id, body));
    return { ok: true, error: null, calendars: calendars.map(({ name, url }) => ({ name, url })) };
  }
  // Download all of it, because it may be too large, but store nothing.
  await using file = await openScratchFile(ctx.config);
  await downloadIcs(access, file);
  return { ok: true, error: null };
}
