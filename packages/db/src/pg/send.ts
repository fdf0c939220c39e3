import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { SECOND } from '@portal/domain/time';

/** The server ends what takes 30 s; this is for a server that says nothing any more. */
const patienceMs = 40 * SECOND;
/** The driver hangs up on a server that does not answer within this limit, and what is under way on the connection fails. */
const lastCall: QueryConfig & { query_timeout: number } = { text: 'select 1', query_timeout: 1 };
const ignore = () => undefined;

/**
 * Sends a statement and answers its result. The driver's own promise and time limit keep parameters and rows alive until the next full
 * collection, so they are made here; no function within may name the statement.
 */
export function sendOver(client: PoolClient, statement: QueryConfig, values?: unknown[]): Promise<QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryResult>();
  const timer = setTimeout(() => client.query(lastCall, ignore), patienceMs);
  const answer = (error: Error | null, result: QueryResult) => {
    clearTimeout(timer);
    if (error) reject(error);
    else resolve(result);
  };
  client.query(values ? { ...statement, values } : statement, answer);
  return promise;
}
