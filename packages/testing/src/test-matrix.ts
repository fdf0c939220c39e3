/**
 * Defaults for tests that do not choose: `TEST_QUEUES` sets the queue backend, `postgres` or `redis`, and `TEST_WORKERS` the number of
 * workers.
 */
const { TEST_QUEUES: queues, TEST_WORKERS: workers = '1' } = process.env;
if (queues !== undefined && queues !== 'postgres' && queues !== 'redis')
  throw new Error('TEST_QUEUES must be postgres or redis');
if (!/^[1-9]$/.test(workers)) throw new Error('TEST_WORKERS must be 1 to 9');

export const testMatrix = { queues: queues ?? null, workers: Number(workers) };

const redisOf = new Map<string, string>();

const nameOf = (databaseUrl: string): string => new URL(databaseUrl).pathname;

/** Puts the queues of programs on this database into that Redis. */
export const placeQueues = (databaseUrl: string, redisUrl: string): void =>
  void redisOf.set(nameOf(databaseUrl), redisUrl);

/** The Redis with the queues of programs on this database; null if the database has them. */
export const queuesOf = (databaseUrl: string): string | null => redisOf.get(nameOf(databaseUrl)) ?? null;

/** The setting for `queuesOf`. */
export function queueSettings(databaseUrl: string): Record<string, string> {
  const redisUrl = queuesOf(databaseUrl);
  return redisUrl === null ? {} : { REDIS_URL: redisUrl };
}
