import { drizzle } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { type Drizzle, execute, type Prepared, type Send, tooLate } from '../prepared.ts';
import type { Preamble } from './preamble.ts';
import { sendOver } from './send.ts';

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

const ignore = () => undefined;

/** One transaction on a connection: its preamble goes ahead of all others, and behind its end nothing is sent. */
class Transaction {
  readonly #client: PoolClient;
  /** The server's word on the preamble and, once it has been sent, on the end. */
  readonly begun: Promise<unknown>;
  #ended: Promise<unknown> | null = null;

  constructor(client: PoolClient, preamble: Preamble) {
    this.#client = client;
    this.begun = sendOver(client, { text: preamble });
    this.begun.catch(ignore);
  }

  readonly send: Send = (statement, values) => {
    if (this.#ended) throw tooLate();
    return sendOver(this.#client, statement, values);
  };

  run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]> {
    return execute(this.#client, statement, params, this.send);
  }

  /** Sends the end; where it has been sent already, only waits for it. */
  end(how: 'commit' | 'rollback'): Promise<unknown> {
    if (!this.#ended) {
      this.#ended = sendOver(this.#client, { text: how });
      this.#ended.catch(ignore);
    }
    return this.#ended;
  }

  async runAndCommit<Params extends Record<string, unknown>, Row>(
    statement: Prepared<Params, Row>,
    params: Params,
  ): Promise<Row[]> {
    if (this.#ended) throw tooLate();
    const answer = this.run(statement, params);
    const [begun, rows, ended] = await Promise.allSettled([this.begun, answer, this.end('commit')]);
    // The statements behind a preamble that failed only report that something failed.
    for (const one of [begun, rows, ended]) if (one.status === 'rejected') throw one.reason;
    return answer;
  }
}

/** Runs a prepared statement as a transaction of its own, in one round trip. */
export const runAlone = <Params extends Record<string, unknown>, Row>(
  client: PoolClient,
  preamble: Preamble,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> => new Transaction(client, preamble).runAndCommit(statement, params);

/** Runs a piece of work as one transaction on a connection that serves nobody else meanwhile. */
export async function transact<T>(client: PoolClient, preamble: Preamble, work: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = new Transaction(client, preamble);
  const tx = Object.assign(drizzle({ query: transaction.send } as unknown as PoolClient, { casing: 'snake_case' }), {
    run: (statement, params) => transaction.run(statement, params),
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
