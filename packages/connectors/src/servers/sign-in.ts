import { isRow } from '@portal/domain/monitoring/loose';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import type { OutboundAnswer } from '../http/guarded-fetch.ts';
import { dialects } from './dialect.ts';
import { ServerFailure } from './server-failure.ts';

/** What a sign-in by name and password gives, for two hours. */
export interface Ticket {
  /** Name and value of the cookie that carries it. */
  cookie: string;
  signedInAt: number;
}

/** Products keep a ticket for two hours; a new one is fetched in good time. */
const renewAfterMs = 90 * 60_000;

/** Tickets are kept in memory; those of the products have a few hundred characters. */
const longestTicket = 4_096;

export const isFresh = (ticket: Ticket | null): ticket is Ticket =>
  ticket !== null && Date.now() - ticket.signedInAt < renewAfterMs;

/** The ticket in the answer to a sign-in that was accepted. Throws a ServerFailure when there is none that can be used. */
export function ticketIn({ headers }: OutboundAnswer, data: unknown, kind: ServerKind, host: string): Ticket {
  const row = isRow(data) ? data : {};
  const ticket = typeof row['ticket'] === 'string' ? row['ticket'] : null;
  // A half one: the password was right, and something more is asked for. Nobody is here to give it.
  const isHalf =
    Boolean(Number(row['NeedTFA'] ?? 0)) || row['CSRFPreventionToken'] === 'invalid' || /^\w+:!tfa!/.test(ticket ?? '');
  if (isHalf)
    throw new ServerFailure(
      'zugang',
      `${host} asks for a second factor. Use an API token, or an account without a second factor.`,
    );
  const signedInAt = Date.now();
  if (ticket !== null && ticket.length > longestTicket)
    throw new ServerFailure(
      'antwortform',
      `${host} answered the sign-in with a ticket of ${ticket.length} characters.`,
    );
  if (ticket !== null && ticket !== '')
    return { cookie: `${dialects[kind].cookie}=${encodeURIComponent(ticket.toWellFormed())}`, signedInAt };
  const set = (headers['set-cookie'] ?? []).map((cookie) => cookie.split(';', 1)[0] ?? '');
  const cookie = set.find((one) => /^[\w-]*AuthCookie=[\x21-\x7e]+$/.test(one));
  if (cookie !== undefined) return { cookie, signedInAt };
  throw typeof row['username'] === 'string'
    ? new ServerFailure('zugang', `${host} took the password and gave no ticket.`)
    : new ServerFailure('antwortform', `${host} answered the sign-in with something else than a ticket.`);
}
