import { SECOND } from '@portal/domain/time';

// Shorter than the timeout of every load balancer.
const checkTimeoutMs = 2 * SECOND;
/** Database and queue are checked at most once in this time: a check takes a connection that other requests wait for. */
const cacheMs = SECOND;

export interface Checks {
  /** Why each did not answer in time; null if it did. */
  database: Failure | null;
  queue: Failure | null;
}
interface Failure {
  cause: unknown;
}

/** Checks database and queue; concurrent callers share one check. */
export function sharedCheck({
  database,
  queues,
}: Record<'database' | 'queues', { ping(): Promise<unknown> }>): () => Promise<Checks> {
  let latest: Promise<Checks> | null = null;
  return () => {
    latest ??= Promise.all([failureOf(database.ping()), failureOf(queues.ping())]).then(
      ([databaseFailure, queueFailure]) => {
        setTimeout(() => (latest = null), cacheMs).unref();
        return { database: databaseFailure, queue: queueFailure };
      },
    );
    return latest;
  };
}

/** Why a ping did not answer in time; null if it did. */
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
