import type { FileHandle } from 'node:fs/promises';
import { guardedDownload, guardedFetch } from '../http/guarded-fetch.ts';
import {
  type CalendarAccess,
  asCalendarFailure,
  CalendarFailure,
  checkStatus,
  maxCalendarBytes,
  policyOf,
  requestOf,
} from './calendar-access.ts';
import type { DavCollection } from './read-dav.ts';

/** Parses the collections of an answer (`readCollections`), in the process the caller chooses. */
export type ReadCollections = (body: Buffer) => Promise<DavCollection[] | null>;

export interface DavCalendar {
  name: string;
  url: string;
  /** Changes with the calendar's content; null if the server does not report it. */
  version: string | null;
}

/** The list of a person's calendars takes some kilobytes. */
const maxAnswerBytes = 512 * 1024;
const maxHomes = 3;
const maxCalendars = 50;

/** A collection with absolute addresses. */
interface Found extends Omit<DavCollection, 'href' | 'principal' | 'homes'> {
  url: URL;
  principal: URL | null;
  homes: URL[];
}

const wantedProps = {
  'd:resourcetype': {},
  'd:displayname': {},
  'c:supported-calendar-component-set': {},
  'cs:getctag': {},
  'd:sync-token': {},
  'd:current-user-principal': {},
  'c:calendar-home-set': {},
};

/**
 * The calendars with events at an address (RFC 4791, RFC 6764): the address itself if it is a calendar, otherwise the calendars of the
 * user who signs in there. Throws a CalendarFailure.
 */
export async function findCalendars(access: CalendarAccess, read: ReadCollections): Promise<DavCalendar[]> {
  const url = new URL(access.url.reveal());
  const own = await first(access, url, read);
  if ('found' in own && own.found.isCalendar) return calendarsAmong([own.found], url);
  let person = 'found' in own ? own.found : null;
  if (!person?.principal && !person?.homes.length) {
    const known = await first(access, new URL('/.well-known/caldav', url), read);
    // Prefer the failure at the address itself; it says more.
    if (!('found' in known)) throw 'failure' in own ? own.failure : known.failure;
    person = known.found;
  }
  let homes = person.homes;
  if (homes.length === 0 && person.principal)
    homes = (await collections(access, person.principal, '0', read)).flatMap((one) => one.homes);
  if (homes.length === 0) throw new CalendarFailure('invalid');
  const found: DavCalendar[] = [];
  for (const home of homes.slice(0, maxHomes))
    found.push(...calendarsAmong(await collections(access, home, '1', read), home));
  return found.slice(0, maxCalendars);
}

/** The collection at an address, or the failure if another address may still work. Throws all other failures. */
async function first(
  access: CalendarAccess,
  url: URL,
  read: ReadCollections,
): Promise<{ found: Found } | { failure: CalendarFailure }> {
  try {
    const [found] = await collections(access, url, '0', read);
    return found ? { found } : { failure: new CalendarFailure('invalid') };
  } catch (error) {
    if (!(error instanceof CalendarFailure) || !['notFound', 'invalid'].includes(error.error)) throw error;
    return { failure: error };
  }
}

const calendarsAmong = (found: Found[], home: URL): DavCalendar[] =>
  found
    .filter(({ isCalendar, holdsEvents }) => isCalendar && holdsEvents)
    .map(({ name, url, version }) => ({ name: name || lastPart(url) || home.host, url: url.href, version }));

function lastPart({ pathname }: URL): string {
  const part = pathname.split('/').findLast(Boolean) ?? '';
  try {
    return decodeURIComponent(part).slice(0, 200);
  } catch {
    return part.slice(0, 200);
  }
}

async function collections(
  access: CalendarAccess,
  url: URL,
  depth: '0' | '1',
  read: ReadCollections,
): Promise<Found[]> {
  let answer: { body: Buffer; url: URL } | null = null;
  // Imported on demand: it takes 0.02 s and 7 MB, which events files do not need.
  const { propfind } = await import('tsdav');
  await propfind({
    url: url.href,
    depth,
    props: wantedProps,
    fetch: async (_url: unknown, init: RequestInit = {}) => {
      const { status, ...rest } = await asCalendarFailure(
        guardedFetch(url, policyOf(access), { ...requestFrom(access, url, init), maxBytes: maxAnswerBytes }),
      );
      checkStatus(status, 207);
      answer = rest;
      return noBody();
    },
  });
  const { body, url: from } = answer ?? unanswered();
  const found = await read(body);
  if (found === null) throw new CalendarFailure('invalid');
  return found.flatMap(({ href, principal, homes, ...rest }) => {
    const at = addressFrom(href, from);
    return at === null
      ? []
      : {
          ...rest,
          url: at,
          principal: principal === null ? null : addressFrom(principal, from),
          homes: homes.flatMap((home) => addressFrom(home, from) ?? []),
        };
  });
}

/**
 * Writes the server's answer with the events between two instants to an empty file; `readEvents` parses it. Throws a CalendarFailure.
 */
export async function downloadEvents(
  access: CalendarAccess,
  calendar: DavCalendar,
  { from, to }: { from: Date; to: Date },
  file: FileHandle,
): Promise<void> {
  const url = new URL(calendar.url);
  const range = { start: davTime(from), end: davTime(to) };
  const { calendarQuery } = await import('tsdav');
  await calendarQuery({
    url: url.href,
    depth: '1',
    props: { 'c:calendar-data': {} },
    filters: {
      'comp-filter': {
        _attributes: { name: 'VCALENDAR' },
        'comp-filter': { _attributes: { name: 'VEVENT' }, 'time-range': { _attributes: range } },
      },
    },
    fetch: async (_url: unknown, init: RequestInit = {}) => {
      const request = requestFrom(access, url, init);
      const { status } = await asCalendarFailure(
        guardedDownload(url, policyOf(access), {
          ...request,
          path: file,
          stallMs: request.timeoutMs,
          maxBytes: maxCalendarBytes,
        }),
      );
      checkStatus(status, 207);
      return noBody();
    },
  });
}

/** The library's request, sent with our own client. */
function requestFrom(access: CalendarAccess, url: URL, { method, headers, body }: RequestInit) {
  const given = Object.fromEntries(new Headers(headers).entries());
  return {
    ...requestOf(access, url, given),
    method: method ?? 'GET',
    ...(typeof body === 'string' && { body }),
  };
}

/**
 * The library gets no body: parsing half a megabyte of XML here would block other requests for a tenth of a second, and answers have up to
 * ten megabytes.
 */
const noBody = () => new Response(null, { status: 204 });

const unanswered = (): never => {
  throw new CalendarFailure('invalid');
};

/** An address from a server's answer; it must meet the same rules as one a user enters. */
function addressFrom(href: string, from: URL): URL | null {
  const url = URL.parse(href, from);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url : null;
}

/** A time in iCalendar's format. */
const davTime = (date: Date): string => `${date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
