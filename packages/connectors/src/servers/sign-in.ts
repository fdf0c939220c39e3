import { isRow } from '@portal/domain/monitoring/rows';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import type { OutboundAnswer } from '../http/guarded-fetch.ts';
import { dialects } from './dialect.ts';
import { ServerFailure } from './server-failure.ts';

/** The result of a sign-in by name and password, valid for two hours. */
export interface Ticket {
  /** Name and value of the cookie that carries it. */
  cookie: string;
  signedInAt: number;
}

/** The products accept a ticket for two hours; a new one is fetched in good time. */
const renewAfterMs = 90 * 60_000;

/** Tickets are held in memory. Those of the products have a few hundred characters. */
const maxTicketLength = 4_096;

export const isFresh = (ticket: Ticket | null): ticket is Ticket =>
  ticket !== null && Date.now() - ticket.signedInAt < renewAfterMs;

/** The ticket from the answer to an accepted sign-in. Throws a ServerFailure if the answer has no usable ticket. */
export function ticketIn({ headers }: OutboundAnswer, data: unknown, kind: ServerKind, host: string): Ticket {
  const row = isRow(data) ? data : {};
  const ticket = typeof row['ticket'] === 'string' ? row['ticket'] : null;
  // The password was right, but the server asks for a second factor, which the portal cannot give.
  const needsSecondFactor =
    Boolean(Number(row['NeedTFA'] ?? 0)) || row['CSRFPreventionToken'] === 'invalid' || /^\w+:!tfa!/.test(ticket ?? '');
  if (needsSecondFactor)
    throw new ServerFailure(
      'zugang',
      `${host} asks for a second factor. Use an API token, or an account without a second factor.`,
    );
  const signedInAt = Date.now();
  if (ticket !== null && ticket.length > maxTicketLength)
    throw new ServerFailure(
      'antwortform',
      `${host} answered the sign-in with a ticket of ${ticket.length} characters.`,
    );
  if (ticket !== null && ticket !== '')
    return { cookie: `${dialects[kind].cookie}=${encodeURIComponent(ticket.toWellFormed())}`, signedInAt };
  const cookies = (headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0] ?? '');
  const cookie = cookies.find((one) => /^[\w-]*AuthCookie=[\x21-\x7e]+$/.test(one));
  if (cookie !== undefined) return { cookie, signedInAt };
  throw typeof row['username'] === 'string'
    ? new ServerFailure('zugang', `${host} accepted the password but issued no ticket.`)
    : new ServerFailure('antwortform', `${host} answered the sign-in with something other than a ticket.`);
}
