import { classOfStatus } from '@portal/domain/failure-class';
import { isRow, type Row } from '@portal/domain/monitoring/loose';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import type { Secret } from '@portal/domain/secret';
import { shownLine } from '@portal/domain/text';
import { SECOND } from '@portal/domain/time';
import type { AddressPolicy } from '../http/checked-address.ts';
import { openSession, type OutboundAnswer, type OutboundRequest } from '../http/guarded-fetch.ts';
import type { Trust } from '../http/send.ts';
import { apiRoot, dialects } from './dialect.ts';
import { failureOfCall, ServerFailure } from './server-failure.ts';
import { isFresh, type Ticket, ticketIn } from './sign-in.ts';

export type Login =
  | { method: 'token'; id: string; secret: Secret }
  | { method: 'password'; username: string; secret: Secret };

/** A server and how it is signed in to. */
export interface MonitoredServer {
  kind: ServerKind;
  /** `https://host:port`. */
  address: string;
  login: Login;
  trust: Trust;
  policy: AddressPolicy;
}

/** Keeps a ticket from one run to the next, in memory alone. */
export interface TicketPlace {
  ticket: Ticket | null;
}

/** The calls of one run to one server: GETs, and one sign-in at most. */
export interface ServerSession extends Disposable {
  /** `host:port`. */
  readonly host: string;
  /** Of the certificate that was shown last. */
  readonly certificateValidTo: Date | null;
  /** A list. Throws a ServerFailure for everything else. */
  list(path: string, options?: CallOptions): Promise<readonly Row[]>;
  /** A single record. */
  row(path: string, options?: CallOptions): Promise<Row>;
}

export interface CallOptions {
  timeoutMs?: number;
  /** Of the answer; 8 MiB unless it says otherwise. */
  maxBytes?: number;
}

/** For answers that hold a handful of fields: a version, a ticket. */
export const shortAnswerBytes = 64 * 1024;

const usualTimeoutMs = 15 * SECOND;
const connectTimeoutMs = 5 * SECOND;
const maxBytes = 8 * 1024 * 1024;
/** Most objects and lists of one answer. No server comes near it; parsed, they weigh many times what they weigh as text. */
const mostObjects = 200_000;
/** Longest part of a foreign text that is repeated. */
const quoted = 200;
/** Secrets that are masked in an error, and in data, where a short password may well be a word that says something. */
const shortestInWords = 3;
const shortestInData = 16;

/**
 * Opens a run at a server; nothing is sent before the first call. `signal` ends the run as a whole and is thrown by its own reason.
 * Calls may be made side by side: they share the connection and the sign-in.
 */
export function openServer(
  server: MonitoredServer,
  { tickets = { ticket: null }, signal }: { tickets?: TicketPlace; signal?: AbortSignal } = {},
): ServerSession {
  const { kind, address, login, trust, policy } = server;
  const { host } = new URL(address);
  const dialect = dialects[kind];
  const http = openSession({ ...policy, httpsOnly: true, trust });
  let certificateValidTo: Date | null = null;
  let signingIn: Promise<Ticket> | null = null;
  /** Once refused, a run asks for nothing any more: servers count failures, and lock out who makes many. */
  let refused: ServerFailure | null = null;

  async function send(path: string, request: Partial<OutboundRequest>): Promise<OutboundAnswer> {
    try {
      const answer = await http.fetch(`${address}${apiRoot}${path}`, {
        redirects: 'answer',
        maxBytes,
        timeoutMs: usualTimeoutMs,
        connectTimeoutMs,
        ...(signal && { signal }),
        ...request,
        headers: { accept: 'application/json', ...request.headers },
      });
      ({ certificateValidTo } = answer);
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw failureOfCall(error, host);
    }
  }

  async function signIn(username: string, secret: Secret): Promise<Ticket> {
    const body = new URLSearchParams({ username, password: secret.reveal() }).toString();
    const answer = await send('/access/ticket', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      maxBytes: shortAnswerBytes,
      body,
    });
    if (answer.status !== 200) throw failureOf(answer, 'refused the sign-in');
    return (tickets.ticket = ticketIn(answer, dataOf(answer), kind, host));
  }

  /** A ticket other than the one that was refused, from one sign-in that all callers share. */
  async function ticketFor(username: string, secret: Secret, refusedOne: Ticket | null): Promise<Ticket> {
    if (isFresh(tickets.ticket) && tickets.ticket !== refusedOne) return tickets.ticket;
    signingIn ??= signIn(username, secret);
    return signingIn;
  }

  async function ask(path: string, options: CallOptions): Promise<unknown> {
    if (refused) throw refused;
    try {
      const answer = await askAs(path, options);
      if (answer.status >= 200 && answer.status < 300) return dataOf(answer);
      throw failureOf(answer, answer.status === 401 ? 'refused the sign-in' : 'answered');
    } catch (error) {
      if (error instanceof ServerFailure && error.failure === 'zugang') {
        refused = error;
        tickets.ticket = null;
      }
      throw error;
    }
  }

  async function askAs(path: string, options: CallOptions): Promise<OutboundAnswer> {
    if (login.method === 'token') {
      const authorization = dialect.token?.(login.id, login.secret.reveal());
      if (authorization === undefined) throw new ServerFailure('zugang', `${host} knows no API tokens.`);
      return send(path, { ...options, headers: { authorization } });
    }
    const as = async (refusedOne: Ticket | null) => {
      const ticket = await ticketFor(login.username, login.secret, refusedOne);
      return { ticket, answer: await send(path, { ...options, headers: { cookie: ticket.cookie } }) };
    };
    const first = await as(null);
    if (first.answer.status !== 401) return first.answer;
    // The ticket of this very run is refused: another one would be, too.
    if (signingIn && (await signingIn) === first.ticket) return first.answer;
    return (await as(first.ticket)).answer;
  }

  function dataOf(answer: OutboundAnswer): unknown {
    if (objectsIn(answer.body) > mostObjects)
      throw new ServerFailure('antwortform', `${host} answered with more than can be read.`);
    let parsed: unknown;
    try {
      parsed = JSON.parse(masked(answer.body.toString(), shortestInData));
    } catch {
      throw new ServerFailure('antwortform', `${host} answered with something that is not JSON.`);
    }
    if (isRow(parsed) && 'data' in parsed) return parsed['data'];
    throw new ServerFailure('antwortform', `${host} answered with JSON that has no data.`);
  }

  function failureOf(answer: OutboundAnswer, what: string): ServerFailure {
    const { status } = answer;
    const said = shownLine(masked(wordsOf(answer), shortestInWords), quoted);
    return new ServerFailure(
      classOfStatus(status),
      `${host} ${what}: ${status}${said && ` ${said}`}`,
      undefined,
      status,
    );
  }

  /** What a server repeats of what it was sent is not repeated any further. */
  function masked(text: string, shortest: number): string {
    const ticket = tickets.ticket?.cookie.split('=', 2)[1];
    const secrets = [login.secret.reveal(), ...(ticket === undefined ? [] : [decoded(ticket)])].map((secret) =>
      secret.toWellFormed(),
    );
    return secrets
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .filter((secret) => secret.length >= shortest)
      .reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  }

  const wrong = (what: string) =>
    new ServerFailure('antwortform', `${host} answered with something that is no ${what}.`);

  return {
    host,
    get certificateValidTo() {
      return certificateValidTo;
    },
    async list(path, options = {}) {
      const data = (await ask(path, options)) ?? [];
      if (!Array.isArray(data) || !data.every(isRow)) throw wrong('list');
      return data;
    },
    async row(path, options = {}) {
      const data = await ask(path, options);
      if (!isRow(data)) throw wrong('record');
      return data;
    },
    [Symbol.dispose]: () => http[Symbol.dispose](),
  };
}

/** Where the products put the reason: a message in JSON, a line of text whatever its type says, or the words beside the status. */
function wordsOf({ body, statusText }: OutboundAnswer): string {
  const text = body.subarray(0, 16_384).toString().trim();
  if (/^[{[]/.test(text)) {
    try {
      const message: unknown = JSON.parse(text)?.message;
      if (typeof message === 'string') return message;
    } catch {
      return statusText;
    }
  }
  return text === '' || /^[{[<]/.test(text) ? statusText : text;
}

/** How many objects and lists a JSON has at most: what opens one may stand in a text as well. */
function objectsIn(json: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) if (json[at] === 0x7b || json[at] === 0x5b) count += 1;
  return count;
}

/** A cookie may be one that nobody encoded. */
function decoded(ticket: string): string {
  try {
    return decodeURIComponent(ticket);
  } catch {
    return ticket;
  }
}
