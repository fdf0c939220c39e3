import type { CalendarError } from '@portal/domain/calendar/sources';
import type { Secret } from '@portal/domain/secret';
import type { AddressPolicy } from '../http/checked-address.ts';
import type { OutboundPolicy, OutboundRequest } from '../http/guarded-fetch.ts';
import { OutboundError, type OutboundReason } from '../http/outbound-error.ts';

/** Maximum bytes read from one source. */
export const maxCalendarBytes = 10 * 1024 * 1024;

/** How to reach an external calendar. */
export interface CalendarAccess {
  url: Secret;
  username: string | null;
  password: Secret | null;
  policy: AddressPolicy;
  /** Deadline, by `performance.now()`. */
  until: number;
}

/** A calendar could not be read. Contains neither its address nor its answer. */
export class CalendarFailure extends Error {
  readonly error: CalendarError;

  constructor(error: CalendarError, cause?: unknown) {
    super(`The calendar could not be read: ${error}.`, { cause });
    this.name = 'CalendarFailure';
    this.error = error;
  }
}

const errorByReason: Record<OutboundReason, CalendarError> = {
  // Reporting a blocked address would reveal which address a host name resolves to.
  blocked: 'unreachable',
  unreachable: 'unreachable',
  certificate: 'certificate',
  timeout: 'timeout',
  too_large: 'invalid',
  redirects: 'invalid',
  malformed: 'invalid',
};

/** Turns an OutboundError of a call into a CalendarFailure. */
export async function asCalendarFailure<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new CalendarFailure(errorByReason[error.reason], error);
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

/** iCloud's entry point, and the servers it names as calendar homes, such as `p34-caldav.icloud.com`. */
const iCloud = { first: 'https://caldav.icloud.com', homes: /^https:\/\/p\d{1,3}-caldav\.icloud\.com$/ };

/** The sign-in goes only to the origin of the calendar's address; iCloud is the exception because it uses many hosts. */
const isSignInFor = (to: URL, { origin }: URL): boolean =>
  to.origin === origin || (origin === iCloud.first && iCloud.homes.test(to.origin));

/** Options of every call: timeout, redirects only to https, and the sign-in if it may go to `to`. */
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
