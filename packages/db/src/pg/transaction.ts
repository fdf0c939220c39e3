import { drizzle } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { type Drizzle, execute, type Prepared, type Send, tooLate } from '../prepared.ts';
import type { Preamble } from './preamble.ts';
import { sendOver } from './send.ts';

declare const scope: unique symbol;
/** The operations of a read scope. */
export type Reader = Pick<Drizzle, 'select' | 'selectDistinct' | '$with' | 'with' | '$count'> & { [scope]: 'read' };
/** The operations of a transaction. There are no nested transactions: a scope is one unit of work. */
export type Tx = Reader &
  Pick<Drizzle, 'insert' | 'update' | 'delete' | 'execute'> & {
    /** Runs a prepared statement as part of this transaction. */
    run<Params extends Record<string, unknown>, Row>(statement: Prepared<Params, Row>, params: Params): Promise<Row[]>;
    /**
     * Runs a prepared statement as the last one: the commit is sent right after it, and the rows are returned once it has succeeded.
     * Later statements are refused, and the transaction stays committed even if the work throws afterwards. If it is also the first
     * statement, it is the whole transaction and costs no more than a read.
     */
    runAndCommit<Params extends Record<string, unknown>, Row>(
      statement: Prepared<Params, Row>,
      params: Params,
    ): Promise<Row[]>;
  };

const ignore = () => undefined;

/** One transaction on a connection: its preamble is sent first, and nothing is sent after its end. */
class Transaction {
  readonly #client: PoolClient;
  /** The server's answer to the preamble. */
  readonly begun: Promise<unknown>;
  /** The server's answer to the end; null until the end is sent. */
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

  /** Sends the end once and waits for it. */
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
    // After a failed preamble, the later statements only report that the transaction is aborted.
    for (const one of [begun, rows, ended]) if (one.status === 'rejected') throw one.reason;
    return answer;
  }
}

/** Runs a prepared statement as its own transaction, in one round trip. */
export const runAlone = <Params extends Record<string, unknown>, Row>(
  client: PoolClient,
  preamble: Preamble,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> => new Transaction(client, preamble).runAndCommit(statement, params);

/** Runs `work` as one transaction on a connection that nothing else uses meanwhile. */
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
    // After a failed statement, a commit rolls back as well.
    await transaction.end('rollback').catch(ignore);
    await transaction.begun;
    throw error;
  }
}
