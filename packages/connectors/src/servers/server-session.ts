import { classOfStatus } from '@portal/domain/failure-class';
import {
  type AnswerOrder,
  largeAnswerBytes,
  masked as maskedText,
  type ReadAnswer,
  readAnswer,
} from '@portal/domain/monitoring/answers';
import { isRow, type Row } from '@portal/domain/monitoring/rows';
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

/** A server and its login. */
export interface MonitoredServer {
  kind: ServerKind;
  /** `https://host:port`. */
  address: string;
  login: Login;
  trust: Trust;
  policy: AddressPolicy;
}

/** Holds a ticket from one run to the next, in memory only. */
export interface TicketSlot {
  ticket: Ticket | null;
}

/** The calls of one run to one server: GETs, and at most one sign-in. */
export interface ServerSession extends Disposable {
  /** `host:port`. */
  readonly host: string;
  /** From the certificate the server showed last. */
  readonly certificateValidTo: Date | null;
  /** Reads a list. Throws a ServerFailure for any other answer. */
  list(path: string, options?: CallOptions): Promise<readonly Row[]>;
  /** Reads a single record. Throws a ServerFailure for any other answer. */
  row(path: string, options?: CallOptions): Promise<Row>;
}

export interface CallOptions {
  timeoutMs?: number;
  /** Of the answer; 8 MiB by default. */
  maxBytes?: number;
  /** The fields to read; all by default. */
  fields?: readonly string[];
}

/** Memory for large answers, and the process that reads them. */
export interface LargeAnswers {
  /** Waits for memory for one run and holds it until the signal is aborted. Throws the signal's reason if it is aborted first. */
  reserveMemory(signal: AbortSignal): Promise<void>;
  /** Reads one answer without blocking other work. Throws a ServerFailure if it takes too much. */
  read(order: AnswerOrder, host: string): Promise<{ answer: ReadAnswer; bytes: number }>;
}

/** The default: no memory limit, and reading in this process. */
const readInProcess: LargeAnswers = {
  reserveMemory: () => Promise.resolve(),
  read: (order) => Promise.resolve({ answer: readAnswer(order), bytes: 0 }),
};

/** For answers with a handful of fields: a version, a ticket. */
export const shortAnswerBytes = 64 * 1024;

const defaultTimeoutMs = 15 * SECOND;
const connectTimeoutMs = 5 * SECOND;
const maxBytes = 8 * 1024 * 1024;
/** The most that one run holds of all its large answers. */
const maxHeldBytes = 8 * 1024 * 1024;
/** Characters quoted from a text of the server. */
const maxQuoted = 200;
/** Minimum length of a secret to mask in errors, and in data, where a short password may be an ordinary word. */
const minSecretInErrors = 3;
const minSecretInData = 16;

/**
 * Opens a session for one run; nothing is sent before the first call. `signal` ends the whole run; calls then throw its reason.
 * Parallel calls share the connection and the sign-in.
 */
export function openServer(
  server: MonitoredServer,
  {
    tickets = { ticket: null },
    signal,
    large = readInProcess,
  }: { tickets?: TicketSlot; signal?: AbortSignal; large?: LargeAnswers } = {},
): ServerSession {
  const { kind, address, login, trust, policy } = server;
  const { host } = new URL(address);
  const dialect = dialects[kind];
  const http = openSession({ ...policy, httpsOnly: true, trust });
  let certificateValidTo: Date | null = null;
  let signingIn: Promise<Ticket> | null = null;
  /** After a refused sign-in the run sends nothing more: servers count failures and lock accounts out. */
  let refused: ServerFailure | null = null;
  /** The data of large answers, and thus their reserved memory, is held until the run ends. */
  const end = new AbortController();
  let reservation: Promise<void> | null = null;
  let heldBytes = 0;

  function waitForMemory(): Promise<void> {
    if (reservation === null) {
      reservation = large.reserveMemory(end.signal);
      // If a call gives up, the reservation keeps waiting for the next call or the end of the run.
      reservation.catch(() => undefined);
    }
    return reservation;
  }

  async function send(path: string, request: Partial<OutboundRequest>): Promise<OutboundAnswer> {
    try {
      const answer = await http.fetch(`${address}${apiRoot}${path}`, {
        redirects: 'answer',
        maxBytes,
        timeoutMs: defaultTimeoutMs,
        connectTimeoutMs,
        large: { aboveBytes: largeAnswerBytes, wait: waitForMemory },
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
      if (authorization === undefined) throw new ServerFailure('zugang', `${host} does not support API tokens.`);
      return send(path, { ...options, headers: { authorization } });
    }
    const as = async (refusedOne: Ticket | null) => {
      const ticket = await ticketFor(login.username, login.secret, refusedOne);
      return { ticket, answer: await send(path, { ...options, headers: { cookie: ticket.cookie } }) };
    };
    const first = await as(null);
    if (first.answer.status !== 401) return first.answer;
    // The server refused a ticket from this run, so it would refuse a new one as well.
    if (signingIn && (await signingIn) === first.ticket) return first.answer;
    return (await as(first.ticket)).answer;
  }

  async function dataOf({ body }: OutboundAnswer, fields?: readonly string[]): Promise<unknown> {
    const order = { json: body, secrets: secretsOf(minSecretInData), fields };
    const isLarge = body.length > largeAnswerBytes;
    const { answer, bytes } = isLarge ? await large.read(order, host) : { answer: readAnswer(order), bytes: 0 };
    signal?.throwIfAborted();
    heldBytes += bytes;
    if (heldBytes > maxHeldBytes)
      throw new ServerFailure('antwortform', `${host} answers with more data than the portal can read.`);
    if ('data' in answer) return answer.data;
    throw new ServerFailure('antwortform', `${host} answered with ${answer.wrong}.`);
  }

  function failureOf(answer: OutboundAnswer, what: string): ServerFailure {
    const { status } = answer;
    const reason = shownLine(masked(reasonOf(answer), minSecretInErrors), maxQuoted);
    return new ServerFailure(
      classOfStatus(status),
      `${host} ${what}: ${status}${reason && ` ${reason}`}`,
      undefined,
      status,
    );
  }

  const masked = (text: string, minLength: number): string => maskedText(text, secretsOf(minLength));

  /** The secrets to mask, because a server may repeat them. */
  function secretsOf(minLength: number): string[] {
    const ticket = tickets.ticket?.cookie.split('=', 2)[1];
    return [login.secret.reveal(), ...(ticket === undefined ? [] : [decoded(ticket)])]
      .map((secret) => secret.toWellFormed())
      .flatMap((secret) => [secret, encodeURIComponent(secret)])
      .filter((secret) => secret.length >= minLength);
  }

  const unexpected = (what: string) =>
    new ServerFailure('antwortform', `${host} answered with something that is not a ${what}.`);

  return {
    host,
    get certificateValidTo() {
      return certificateValidTo;
    },
    async list(path, options = {}) {
      const data = (await ask(path, options)) ?? [];
      if (!Array.isArray(data) || !data.every(isRow)) throw unexpected('list');
      return data;
    },
    async row(path, options = {}) {
      const data = await ask(path, options);
      if (!isRow(data)) throw unexpected('record');
      return data;
    },
    [Symbol.dispose]: () => {
      // An abort makes an error with a stack, which takes longer than the rest of this. Most runs have reserved nothing.
      if (reservation !== null) end.abort();
      http[Symbol.dispose]();
    },
  };
}

/** The reason of an error: a message in JSON, a line of text regardless of its content type, or the status text. */
function reasonOf({ body, statusText }: OutboundAnswer): string {
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

/** Some cookies are not encoded. */
function decoded(ticket: string): string {
  try {
    return decodeURIComponent(ticket);
  } catch {
    return ticket;
  }
}
