import { SECOND } from '@portal/domain/time';

// Shorter than the patience of every load balancer.
const checkTimeoutMs = 2 * SECOND;
/** However many ask, database and queue are looked at once in this time: a look takes a connection that others wait for. */
const checkedForMs = SECOND;

export interface Checks {
  /** Why each does not come back in time; null when it does. */
  database: Failure | null;
  queue: Failure | null;
}
interface Failure {
  cause: unknown;
}

/** Looks at database and queue, once for all who ask at the same time. */
export function sharedCheck({
  database,
  queues,
}: Record<'database' | 'queues', { ping(): Promise<unknown> }>): () => Promise<Checks> {
  let latest: Promise<Checks> | null = null;
  return () => {
    latest ??= Promise.all([failureOf(database.ping()), failureOf(queues.ping())]).then(([atDatabase, atQueue]) => {
      setTimeout(() => (latest = null), checkedForMs).unref();
      return { database: atDatabase, queue: atQueue };
    });
    return latest;
  };
}

/** Why a ping does not come back in time; null when it does. */
async function failureOf(ping: Promise<unknown>): Promise<Failure | null> {
  const { promise: late, resolve } = Promise.withResolvers<Failure>();
  const timer = setTimeout(() => resolve({ cause: new Error('No answer in time') }), checkTimeoutMs);
  try {
    return await Promise.race([
      ping.then(
        () => null,
        (cause: unknown) => ({ cause }),
      ),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
