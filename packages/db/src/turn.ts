import type { Socket } from 'node:net';
import type { PoolClient, QueryResult } from 'pg';
import { SECOND } from '@portal/domain/time';

type Query = PoolClient['query'];

const held = new WeakSet<PoolClient>();

// The server ends what takes too long; this is for a server that says nothing any more.
const silenceMs = 40 * SECOND;

/**
 * Sends statements as the client does, but all that are handed over during one turn of the event loop in one write:
 * each write is a system call, and wakes the server. A connection on which nothing is answered any more is cut.
 */
export function queryByTurn(client: PoolClient): Query {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  let unanswered = 0;
  const silence = setTimeout(() => {
    if (unanswered > 0) stream.destroy();
  }, silenceMs).unref();
  client.once('end', () => clearTimeout(silence));

  const send = (statement: Parameters<Query>[0], values?: unknown[]): Promise<QueryResult> =>
    new Promise((resolve, reject) => {
      if (unanswered === 0) silence.refresh();
      unanswered += 1;
      // The client's own promises and timeouts set a function on the query. V8 puts functions that are set on an object
      // among the long-lived ones, where each would keep what its query touched until the next full collection.
      client.query(statement, values as unknown[], (error: Error | null, result: QueryResult) => {
        unanswered -= 1;
        silence.refresh();
        if (error) reject(error);
        else resolve(result);
      });
    });

  const query = async (statement: Parameters<Query>[0], values?: unknown[]): Promise<QueryResult> => {
    if (!held.has(client)) {
      held.add(client);
      stream.cork();
      setImmediate(() => {
        held.delete(client);
        stream.uncork();
      });
    }
    try {
      return await send(statement, values);
    } catch (error) {
      // Of the socket's stack nobody could read who sent the statement.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  };
  return query as Query;
}
