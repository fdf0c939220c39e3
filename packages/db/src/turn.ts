import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';

type Query = PoolClient['query'];

const held = new WeakSet<PoolClient>();

/**
 * Sends statements as the client does, but all that are handed over during one turn of the event loop in one write:
 * each write is a system call, and wakes the server.
 */
export function queryByTurn(client: PoolClient): Query {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const query = (...statement: unknown[]): unknown => {
    if (!held.has(client)) {
      held.add(client);
      stream.cork();
      setImmediate(() => {
        held.delete(client);
        stream.uncork();
      });
    }
    return (client.query as (...statement: unknown[]) => unknown)(...statement);
  };
  return query as Query;
}
