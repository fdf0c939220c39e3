import { classOfStatus } from '@portal/domain/failure-class';
import {
  type AnswerOrder,
  largeAnswerBytes,
  masked as maskedText,
  type ReadAnswer,
  readAnswer,
} from '@portal/domain/monitoring/answers';
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
  /** The fields that are read of it; all of them unless given. */
  fields?: readonly string[];
}

/** Where large answers find room, and who reads them. */
export interface LargeAnswers {
  /** Waits for room in memory for what one run reads, and holds it until the signal is aborted. Throws its reason when that comes first. */
  hold(signal: AbortSignal): Promise<void>;
  /** Reads one where it keeps nothing else from going on. Throws a ServerFailure for one that takes too much. */
  read(order: AnswerOrder, host: string): Promise<{ answer: ReadAnswer; bytes: number }>;
}

/** Without a process around it: as much room as there is, and read right here. */
const readHere: LargeAnswers = {
  hold: () => Promise.resolve(),
  read: (order) => Promise.resolve({ answer: readAnswer(order), bytes: 0 }),
};

/** For answers that hold a handful of fields: a version, a ticket. */
export const shortAnswerBytes = 64 * 1024;

const usualTimeoutMs = 15 * SECOND;
const connectTimeoutMs = 5 * SECOND;
const maxBytes = 8 * 1024 * 1024;
/** What is kept of all large answers of one run. */
const maxKeptBytes = 8 * 1024 * 1024;
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
  {
    tickets = { ticket: null },
    signal,
    large = readHere,
  }: { tickets?: TicketPlace; signal?: AbortSignal; large?: LargeAnswers } = {},
): ServerSession {
  const { kind, address, login, trust, policy } = server;
  const { host } = new URL(address);
  const dialect = dialects[kind];
  const http = openSession({ ...policy, httpsOnly: true, trust });
  let certificateValidTo: Date | null = null;
  let signingIn: Promise<Ticket> | null = null;
  /** Once refused, a run asks for nothing any more: servers count failures, and lock out who makes many. */
  let refused: ServerFailure | null = null;
  /** What was read of large answers stays in memory until the run ends, and so does the room it takes. */
  const over = new AbortController();
  let room: Promise<void> | null = null;
  let keptBytes = 0;

  function waitForRoom(): Promise<void> {
    if (room === null) {
      room = large.hold(over.signal);
      // A call that gave up waiting leaves its wait to the next one, or to the end of the run.
      room.catch(() => undefined);
    }
    return room;
  }

  async function send(path: string, request: Partial<OutboundRequest>): Promise<OutboundAnswer> {
    try {
      const answer = await http.fetch(`${address}${apiRoot}${path}`, {
        redirects: 'answer',
        maxBytes,
        timeoutMs: usualTimeoutMs,
        connectTimeoutMs,
        large: { aboveBytes: largeAnswerBytes, wait: waitForRoom },
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
    return (tickets.ticket = ticketIn(answer, await dataOf(answer), kind, host));
  }

  /** A ticket other than the one that was refused, from one sign-in that all callers share. */
  async function ticketFor(username: string, secret: Secret, refusedOne: Ticket | null): Promise<Ticket> {
    if (isFresh(tickets.ticket) && tickets.ticket !== refusedOne) return tickets.ticket;
    signingIn ??= signIn(username, secret);
    return signingIn;
  }

  async function ask(path: string, { fields, ...options }: CallOptions): Promise<unknown> {
    if (refused) throw refused;
    try {
      const answer = await askAs(path, options);
      if (answer.status >= 200 && answer.status < 300) return await dataOf(answer, fields);
      throw failureOf(answer, answer.status === 401 ? 'refused the sign-in' : 'answered');
    } catch (error) {
      if (error instanceof ServerFailure && error.failure === 'zugang') {
        refused = error;
        tickets.ticket = null;
      }
      throw error;
    }
  }

  async function askAs(path: string, options: Omit<CallOptions, 'fields'>): Promise<OutboundAnswer> {
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

  async function dataOf({ body }: OutboundAnswer, fields?: readonly string[]): Promise<unknown> {
    const order = { json: body, secrets: secretsOf(shortestInData), fields };
    const isLarge = body.length > largeAnswerBytes;
    const { answer, bytes } = isLarge ? await large.read(order, host) : { answer: readAnswer(order), bytes: 0 };
    signal?.throwIfAborted();
    keptBytes += bytes;
    if (keptBytes > maxKeptBytes) throw new ServerFailure('antwortform', `${host} answers with more than can be kept.`);
    if ('data' in answer) return answer.data;
    throw new ServerFailure('antwortform', `${host} answered with ${answer.wrong}.`);
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

  const masked = (text: string, shortest: number): string => maskedText(text, secretsOf(shortest));

  /** What a server repeats of what it was sent is not repeated any further. */
  function secretsOf(shortest: number): string[] {
    const ticket = tickets.ticket?.cookie.split('=', 2)[1];
    return [login.secret.reveal(), ...(ticket === undefined ? [] : [decoded(ticket)])]
      .map((secret) => secret.toWellFormed())
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .filter((secret) => secret.length >= shortest);
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
    [Symbol.dispose]: () => {
      over.abort();
      http[Symbol.dispose]();
    },
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

/** A cookie may be one that nobody encoded. */
function decoded(ticket: string): string {
  try {
    return decodeURIComponent(ticket);
  } catch {
    return ticket;
  }
}
