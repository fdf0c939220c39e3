import type { CalendarError } from '@portal/domain/calendar/sources';
import type { Secret } from '@portal/domain/secret';
import type { AddressPolicy } from '../http/checked-address.ts';
import type { OutboundPolicy, OutboundRequest } from '../http/guarded-fetch.ts';
import { OutboundError, type OutboundReason } from '../http/outbound-error.ts';

/** Most bytes taken of one source. */
export const maxCalendarBytes = 10 * 1024 * 1024;

/** A calendar somebody else keeps, and how it is reached. */
export interface CalendarAccess {
  url: Secret;
  username: string | null;
  password: Secret | null;
  policy: AddressPolicy;
  /** When patience ends, by `performance.now()`. */
  until: number;
}

/** A calendar that could not be read. Names neither its address nor what it said. */
export class CalendarFailure extends Error {
  readonly error: CalendarError;

  constructor(error: CalendarError, cause?: unknown) {
    super(`The calendar could not be read: ${error}.`, { cause });
    this.name = 'CalendarFailure';
    this.error = error;
  }
}

const ofReason: Record<OutboundReason, CalendarError> = {
  // Whoever is told that an address is not called could learn by it what lies behind a name.
  blocked: 'unreachable',
  unreachable: 'unreachable',
  certificate: 'certificate',
  timeout: 'timeout',
  too_large: 'invalid',
  redirects: 'invalid',
  malformed: 'invalid',
};

/** Has a call that fails say so as a CalendarFailure. */
export async function called<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new CalendarFailure(ofReason[error.reason], error);
  }
}

/** Throws a CalendarFailure unless the answer has this status. */
export function checkStatus(status: number, expected: number): void {
  if (status === expected) return;
  if (status === 401 || status === 403) throw new CalendarFailure('unauthorized');
  if (status === 404 || status === 410) throw new CalendarFailure('notFound');
  throw new CalendarFailure(status >= 500 || status === 429 ? 'unreachable' : 'invalid');
}

export const policyOf = ({ policy }: CalendarAccess): OutboundPolicy => ({ ...policy, httpsOnly: true });

/** Where iCloud has everybody begin, and the servers it names as the homes of calendars, such as `p34-caldav.icloud.com`. */
const iCloud = { first: 'https://caldav.icloud.com', homes: /^https:\/\/p\d{1,3}-caldav\.icloud\.com$/ };

/** The sign-in is for the origin of its address alone, which iCloud alone has on many hosts. */
const isSignInFor = (to: URL, { origin }: URL): boolean =>
  to.origin === origin || (origin === iCloud.first && iCloud.homes.test(to.origin));

/** What every call has: patience, redirects to https alone, and the sign-in where it may go. */
export function requestOf(access: CalendarAccess, to: URL, headers: Record<string, string>) {
  const { url, username, password, until } = access;
  const isOwn = isSignInFor(to, new URL(url.reveal()));
  const signIn = `${username ?? ''}:${password?.reveal() ?? ''}`;
  const timeoutMs = Math.round(until - performance.now());
  if (timeoutMs <= 0) throw new CalendarFailure('timeout');
  return {
    headers: {
      ...headers,
      ...(isOwn && signIn !== ':' && { authorization: `Basic ${Buffer.from(signIn).toString('base64')}` }),
    },
    redirects: (next: URL) => next.protocol === 'https:',
    timeoutMs,
  } satisfies Partial<OutboundRequest>;
}
