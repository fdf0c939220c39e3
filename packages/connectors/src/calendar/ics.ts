import { open } from 'node:fs/promises';
import { guardedDownload } from '../http/guarded-fetch.ts';
import {
  type CalendarAccess,
  called,
  CalendarFailure,
  checkStatus,
  maxCalendarBytes,
  policyOf,
  requestOf,
} from './calendar-access.ts';

/** By which a server tells whether a file has changed. */
export interface IcsValidators {
  etag?: string;
  lastModified?: string;
}

/** What is longer is no date, and no tag anybody needs. */
const longestValidator = 1_000;

/**
 * Writes a file of events to `place`, where nothing is yet. Answers what to ask it by next time; null when it is as it was then, and
 * there is no file. Throws a CalendarFailure.
 */
export async function downloadIcs(
  access: CalendarAccess,
  place: string,
  known: IcsValidators = {},
): Promise<IcsValidators | null> {
  const url = new URL(access.url.reveal());
  const request = requestOf(access, url, {
    accept: 'text/calendar',
    ...(known.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  });
  const { status, headers } = await called(
    guardedDownload(url, policyOf(access), {
      ...request,
      path: place,
      stallMs: request.timeoutMs,
      maxBytes: maxCalendarBytes,
    }),
  );
  const isAsked = known.etag !== undefined || known.lastModified !== undefined;
  if (status === 304 && isAsked) return null;
  checkStatus(status, 200);
  if (!(await isIcs(place))) throw new CalendarFailure('invalid');
  const { etag = '', 'last-modified': lastModified = '' } = headers;
  const isUsable = (validator: string) => validator !== '' && validator.length <= longestValidator;
  return { ...(isUsable(etag) && { etag }), ...(isUsable(lastModified) && { lastModified }) };
}

/** A sign-in page with status 200 is the usual wrong answer. */
async function isIcs(place: string): Promise<boolean> {
  await using file = await open(place, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1_024), 0, 1_024, 0);
  return /^BEGIN:VCALENDAR\s/i.test(buffer.subarray(0, bytesRead).toString().trimStart());
}
