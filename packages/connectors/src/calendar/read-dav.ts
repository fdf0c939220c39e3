import { davRequest, type DAVResponse } from 'tsdav';

/** What a calendar server says of one of its collections. */
export interface DavCollection {
  href: string;
  name: string;
  isCalendar: boolean;
  /** Whether it takes events; it may be for tasks alone. */
  holdsEvents: boolean;
  /** Changes with its content; null where the server does not say. */
  version: string | null;
  /** Who is signed in. */
  principal: string | null;
  /** Where that one's calendars are. */
  homes: string[];
}

/** Of one answer: calendars of a person, and what lies beside them. */
const maxCollections = 1_000;

/**
 * The collections of a multistatus; null for an answer that is none. Answers may be large or hostile, so that this is work for a
 * process apart.
 */
export async function readCollections(body: Uint8Array): Promise<DavCollection[] | null> {
  const responses = await responsesOf(body);
  if (responses === null) return null;
  return responses.slice(0, maxCollections).flatMap(({ href, props = {} }) => {
    if (typeof href !== 'string') return [];
    const components = at(props, 'supportedCalendarComponentSet', 'comp');
    const names = listOf(components).map((one) => textOf(at(one, '_attributes', 'name')));
    return {
      href,
      name: textOf(props['displayname']).slice(0, 200),
      isCalendar: at(props, 'resourcetype', 'calendar') !== undefined,
      holdsEvents: components === undefined || names.includes('VEVENT'),
      version: textOf(props['getctag'] ?? props['syncToken']) || null,
      principal: textOf(at(props, 'currentUserPrincipal', 'href')) || null,
      homes: listOf(at(props, 'calendarHomeSet', 'href'))
        .map(textOf)
        .filter(Boolean),
    };
  });
}

/** The events of a multistatus, one file after the other; null for an answer that is none. */
export async function readEvents(body: Uint8Array): Promise<Uint8Array | null> {
  const responses = await responsesOf(wholeCharacters(body));
  if (responses === null) return null;
  return Buffer.from(responses.map(({ props = {} }) => `${textOf(props['calendarData'])}\r\n`).join(''));
}

/**
 * Takes out the folds that lie within a character (RFC 5545, 3.1): the XML around the events is decoded first, which would spoil such a
 * character. No octet that goes on with a character can follow a blank otherwise.
 */
const wholeCharacters = (body: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(body)
      .toString('latin1')
      .replaceAll(/(?:\r|&#(?:13|x[dD]);)?\n[ \t](?=[\x80-\xbf])/g, ''),
    'latin1',
  );

async function responsesOf(body: Uint8Array): Promise<DAVResponse[] | null> {
  // Of an XML with a document type anything could be expected; no calendar server sends one.
  if (/<!DOCTYPE/i.test(Buffer.from(body).toString('latin1'))) return null;
  const answer = new Response(Buffer.from(body), { status: 207, headers: { 'content-type': 'text/xml' } });
  const responses = await davRequest({
    url: 'https://answered.invalid/',
    init: { method: 'PROPFIND', body: null },
    fetch: () => Promise.resolve(answer),
  });
  const isMultistatus = responses.every(({ raw }) => at(raw, 'multistatus') !== undefined);
  return isMultistatus ? responses.filter(({ href }) => href !== undefined) : null;
}

/** What lies along these names; undefined where one of them is missing. */
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Record<string, unknown>)[name]
        : undefined,
    value,
  );

const listOf = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

/** Text, also in CDATA; the library turns some of it into numbers. */
function textOf(value: unknown): string {
  const text = at(value, '_cdata') ?? value;
  return ['string', 'number', 'boolean'].includes(typeof text) ? String(text) : '';
}
