import type { Duplex } from 'node:stream';
import { drizzle } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { type Drizzle, execute, type Prepared, type Send, tooLate } from '../prepared.ts';
import type { Preamble } from './preamble.ts';

declare const scope: unique symbol;
/** What a piece of code may do inside a read scope: look. */
export type Reader = Pick<Drizzle, 'select' | 'selectDistinct' | '$with' | 'with' | '$count'> & { [scope]: 'read' };
/** What it may do inside a transaction. Nested transactions are not offered: a scope is one unit of work. */
export type Tx = Reader &
  Pick<Drizzle, 'insert' | 'update' | 'delete' | 'execute'> & {
    /** Runs a prepared statement as part of this transaction. */
    run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]>;
    /**
     * Runs a prepared statement as the last one: the commit travels right behind it, and the rows are there once it is done.
     * After that nothing more can be sent, and whatever the work makes of the rows, the transaction stands. As the first and
     * last one it is the transaction, and costs no more than a read.
     */
    runAndCommit<Params extends Record<string, unknown>, Row>(
      statement: Prepared<Params, Row>,
      params: Params,
    ): Promise<Row[]>;
  };

const nothing: Promise<unknown> = Promise.resolve();
const ignore = () => undefined;

/** Each write is a system call and wakes the server. A driver that keeps its socket elsewhere makes several, which is only slower. */
function inOneWrite<T>(client: PoolClient, send: () => T): T {
  const stream = socketOf(client);
  stream?.cork();
  try {
    return send();
  } finally {
    stream?.uncork();
  }
}

const socketOf = (client: PoolClient): Duplex | undefined =>
  (client as { connection?: { stream?: Duplex } }).connection?.stream;

const heldBack = new WeakSet<Duplex>();

/** What is sent until the event loop has looked at all its sockets leaves in one write. */
export function holdBack(client: PoolClient): void {
  const stream = socketOf(client);
  if (!stream || heldBack.has(stream)) return;
  heldBack.add(stream);
  stream.cork();
  setImmediate(() => {
    heldBack.delete(stream);
    stream.uncork();
  });
}

/** One transaction on a connection: its preamble goes ahead of its first statement, and behind its end nothing is sent. */
export class Transaction {
  readonly #client: PoolClient;
  readonly #preamble: Preamble;
  #state: 'unsent' | 'open' | 'ended' = 'unsent';
  /** The server's word on the preamble and on the end, once they have been sent. */
  begun = nothing;
  #ended = nothing;

  constructor(client: PoolClient, preamble: Preamble) {
    this.#client = client;
    this.#preamble = preamble;
  }

  readonly send: Send = (statement, values) => {
    if (this.#state === 'ended') throw tooLate();
    if (this.#state === 'open') return this.#client.query(statement, values);
    this.#state = 'open';
    return inOneWrite(this.#client, () => {
      this.begun = this.#client.query(this.#preamble);
      this.begun.catch(ignore);
      return this.#client.query(statement, values);
    });
  };

  /** Sends the end, unless there is nothing to end; what has ended already is only waited for. */
  end(how: 'commit' | 'rollback'): Promise<unknown> {
    if (this.#state === 'open') {
      this.#ended = this.#client.query(how);
      this.#ended.catch(ignore);
    }
    this.#state = 'ended';
    return this.#ended;
  }

  async runAndCommit<Params extends Record<string, unknown>, Row>(
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    if (this.#state === 'ended') throw tooLate();
    const answer = inOneWrite(this.#client, () => {
      const rows = execute(statement, params, this.send);
      void this.end('commit');
      return rows;
    });
    const [begun, rows, ended] = await Promise.allSettled([this.begun, answer, this.#ended]);
    // Of a preamble that failed, whatever came behind it only knows that something had.
    if (begun.status === 'rejected') throw begun.reason;
    if (rows.status === 'rejected') throw rows.reason;
    if (ended.status === 'rejected') throw ended.reason;
    return rows.value;
  }
}

/**
 * Runs a prepared statement as a transaction of its own. All of it is handed over before this returns: the next one may be
 * sent right behind it.
 */
export const runAlone = <Params extends Record<string, unknown>, Row>(
  client: PoolClient,
  preamble: Preamble,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> => new Transaction(client, preamble).runAndCommit(statement, params);

/** Runs a prepared read by itself, on a connection that serves nobody but those its role sees. */
export const runBare = <Params extends Record<string, unknown>, Row>(
  client: PoolClient,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> => execute(statement, params, (query, values) => client.query(query, values));

/** Runs a piece of work as one transaction on a connection that serves nobody else meanwhile. */
export async function transact<T>(client: PoolClient, preamble: Preamble, work: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = new Transaction(client, preamble);
  const tx = Object.assign(drizzle({ query: transaction.send } as unknown as PoolClient, { casing: 'snake_case' }), {
    run: (statement, params) => execute(statement, params, transaction.send),
    runAndCommit: (statement, params) => transaction.runAndCommit(statement, params),
  } satisfies Pick<Tx, 'run' | 'runAndCommit'>);
  try {
    const result = await work(tx as unknown as Tx);
    await transaction.begun;
    await transaction.end('commit');
    return result;
  } catch (error) {
    // Behind a statement that failed, a commit takes everything back as well.
    await transaction.end('rollback').catch(ignore);
    await transaction.begun;
    throw error;
  }
}
