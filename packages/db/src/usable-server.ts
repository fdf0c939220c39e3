import type { ClientBase, QueryResultRow } from 'pg';
import { isMigrationMissing, UnusableServerError } from './database-error.ts';

/** Options of a pool: a server that vanished without a word is noticed within twenty seconds, by idle connections as well. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** The pool's own limit ends when the connection is open. */
const answerTimeoutMs = 5_000;

async function ask<Row extends QueryResultRow>(client: ClientBase, text: string): Promise<Row | undefined> {
  const statement = { text, query_timeout: answerTimeoutMs };
  return (await client.query<Row>(statement)).rows[0];
}

/**
 * Refuses a standby, for `onConnect` of a pool. During a failover the name in the address may lead to one: its rows may be old, it takes no
 * write, and the connection would outlive the moment at which the name leads to the primary again.
 */
export async function refuseStandby(client: ClientBase): Promise<void> {
  const answer = await ask<{ isStandby: boolean }>(client, 'select pg_is_in_recovery() as "isStandby"');
  if (answer?.isStandby !== false)
    throw new UnusableServerError('The database server is a standby: its name must lead to the primary.');
}

/** Refuses a database to which this release's last migration has not been applied. Later ones suit this release as well. */
export async function refuseOlderSchema(client: ClientBase, newestMigration: number): Promise<void> {
  const answer = await ask<{ latest: string | null }>(
    client,
    'select max(created_at) as latest from drizzle.__drizzle_migrations',
  ).catch((error: unknown) => {
    if (isMigrationMissing(error)) return undefined;
    throw error;
  });
  if (Number(answer?.latest ?? 0) < newestMigration)
    throw new UnusableServerError('The database has not been migrated to this release yet: run `pnpm migrate`.');
}
