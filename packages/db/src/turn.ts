import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { SECOND } from '@portal/domain/time';
import type { Ahead } from './beginnings.ts';
import { NamedStatement, openChannel, type Settle } from './named-statement.ts';

/** Sends a statement; one with a name can have another, prepared already, ahead of it in one transaction. */
export type QueryByTurn = (
  statement: string | QueryConfig,
  values?: unknown[],
  ahead?: Ahead | null,
) => Promise<QueryResult>;

const held = new WeakSet<PoolClient>();

// The server ends what takes too long; this is for a server that says nothing any more.
const silenceMs = 40 * SECOND;

/**
 * Sends statements as the client does, but all that are handed over during one turn of the event loop in one write:
 * each write is a system call, and wakes the server. A connection on which nothing is answered any more is cut.
 */
export function queryByTurn(client: PoolClient): QueryByTurn {
  const channel = openChannel(client);
  const { stream } = channel.wire;
  let unanswered = 0;
  const silence = setTimeout(() => {
    if (unanswered > 0) stream.destroy();
  }, silenceMs).unref();
  client.once('end', () => clearTimeout(silence));

  const send: QueryByTurn = (statement, values = [], ahead = null) =>
    new Promise((resolve, reject) => {
      if (unanswered === 0) silence.refresh();
      unanswered += 1;
      // The client's own promises and timeouts set a function on the query. V8 puts functions that are set on an object
      // among the long-lived ones, where each would keep what its query touched until the next full collection.
      const settle: Settle = (error, result) => {
        unanswered -= 1;
        silence.refresh();
        if (result) resolve(result);
        else reject(error);
      };
      if (typeof statement === 'object' && statement.name)
        client.query(new NamedStatement(channel, ahead, statement, values, settle));
      // Without what goes ahead it would run for whomever the connection served last.
      else if (ahead) settle(new Error('only a prepared statement can be a transaction'));
      else if (typeof statement === 'string') client.query(statement, settle);
      else client.query({ ...statement, values }, settle);
    });

  return async (statement, values, ahead) => {
    if (!held.has(client)) {
      held.add(client);
      stream.cork();
      setImmediate(() => {
        held.delete(client);
        stream.uncork();
      });
    }
    try {
      return await send(statement, values, ahead);
    } catch (error) {
      // Of the socket's stack nobody could read who sent the statement.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  };
}
