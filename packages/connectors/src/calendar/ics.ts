import type { FileHandle } from 'node:fs/promises';
import { guardedDownload } from '../http/guarded-fetch.ts';
import {
  type CalendarAccess,
  asCalendarFailure,
  CalendarFailure,
  checkStatus,
  maxCalendarBytes,
  policyOf,
  requestOf,
} from './calendar-access.ts';

/** Validators with which a server tells whether a file has changed. */
export interface IcsValidators {
  etag?: string;
  lastModified?: string;
}

/** Dates and usual entity tags are shorter. */
const longestValidator = 1_000;

/**
 * Downloads an events file into an empty file. Returns the validators for the next request; null if the events have not changed, in which
 * case nothing is written. Throws a CalendarFailure.
 */
export async function downloadIcs(
  access: CalendarAccess,
  file: FileHandle,
  known: IcsValidators = {},
): Promise<IcsValidators | null> {
  const url = new URL(access.url.reveal());
  const request = requestOf(access, url, {
    accept: 'text/calendar',
    ...(known.etag !== undefined && { 'if-none-match': known.etag }),
    ...(known.lastModified !== undefined && { 'if-modified-since': known.lastModified }),
  });
  const { status, headers } = await asCalendarFailure(
    guardedDownload(url, policyOf(access), {
      ...request,
      path: file,
      stallMs: request.timeoutMs,
      maxBytes: maxCalendarBytes,
    }),
  );
  const isAsked = known.etag !== undefined || known.lastModified !== undefined;
  if (status === 304 && isAsked) return null;
  checkStatus(status, 200);
  if (!(await isIcs(file))) throw new CalendarFailure('invalid');
  const { etag = '', 'last-modified': lastModified = '' } = headers;
  const isUsable = (validator: string) => validator !== '' && validator.length <= longestValidator;
  return { ...(isUsable(etag) && { etag }), ...(isUsable(lastModified) && { lastModified }) };
}

/** The usual wrong answer is a sign-in page with status 200. */
async function isIcs(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1_024), 0, 1_024, 0);
  return /^BEGIN:VCALENDAR\s/i.test(buffer.subarray(0, bytesRead).toString().trimStart());
}
