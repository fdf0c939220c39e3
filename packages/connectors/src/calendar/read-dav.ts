import { davRequest, type DAVResponse } from 'tsdav';

/** A collection as a calendar server describes it. */
export interface DavCollection {
  href: string;
  name: string;
  isCalendar: boolean;
  /** Whether it may contain events; some collections are for tasks only. */
  holdsEvents: boolean;
  /** Changes with the collection's content; null if the server does not report it. */
  version: string | null;
  /** Address of the signed-in user's principal. */
  principal: string | null;
  /** Addresses of the collections with that user's calendars. */
  homes: string[];
}

/** Collections read from one answer: a person's calendars and what lies beside them. */
const maxCollections = 1_000;

/**
 * The collections of a multistatus; null if the answer is not one. Run this in the sandbox: answers may be large or hostile.
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

/** The events files of a multistatus, concatenated; null if the answer is not one. */
export async function readEvents(body: Uint8Array): Promise<Uint8Array | null> {
  const responses = await responsesOf(wholeCharacters(body));
  if (responses === null) return null;
  return Buffer.from(responses.map(({ props = {} }) => `${textOf(props['calendarData'])}\r\n`).join(''));
}

/**
 * Removes folds inside a character (RFC 5545, 3.1): the XML around the events is decoded first, which would break that character.
 * A continuation octet after a blank occurs nowhere else.
 */
const wholeCharacters = (body: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(body)
      .toString('latin1')
      .replaceAll(/(?:\r|&#(?:13|x[dD]);)?\n[ \t](?=[\x80-\xbf])/g, ''),
    'latin1',
  );

async function responsesOf(body: Uint8Array): Promise<DAVResponse[] | null> {
  // Refuse XML with a document type, which could define entities; no calendar server sends one.
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

/** The nested value under these names; undefined if one of them is missing. */
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Record<string, unknown>)[name]
        : undefined,
    value,
  );

const listOf = (value: unknown): unknown[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

/** A text value, also from CDATA; the library turns some texts into numbers or booleans. */
function textOf(value: unknown): string {
  const text = at(value, '_cdata') ?? value;
  return ['string', 'number', 'boolean'].includes(typeof text) ? String(text) : '';
}
