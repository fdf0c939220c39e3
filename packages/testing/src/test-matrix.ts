/**
 * The way a run of tests goes where a test does not choose by itself: `TEST_QUEUES` says where the queues live, `postgres` or `redis`, and
 * `TEST_WORKERS` how many workers there are.
 */
const { TEST_QUEUES: queues, TEST_WORKERS: workers = '1' } = process.env;
if (queues !== undefined && queues !== 'postgres' && queues !== 'redis')
  throw new Error('TEST_QUEUES must be postgres or redis');
if (!/^[1-9]$/.test(workers)) throw new Error('TEST_WORKERS must be 1 to 9');

export const testMatrix = { queues: queues ?? null, workers: Number(workers) };

const placeOf = new Map<string, string>();

const nameOf = (databaseUrl: string): string => new URL(databaseUrl).pathname;

/** From now on the queues of whoever works on this database live there. */
export const placeQueues = (databaseUrl: string, redisUrl: string): void =>
  void placeOf.set(nameOf(databaseUrl), redisUrl);

/** Where the queues of whoever works on this database live: a Redis, or null for the database itself. */
export const queuesOf = (databaseUrl: string): string | null => placeOf.get(nameOf(databaseUrl)) ?? null;

/** The same as a setting. */
export function queueSettings(databaseUrl: string): Record<string, string> {
  const redisUrl = queuesOf(databaseUrl);
  return redisUrl === null ? {} : { REDIS_URL: redisUrl };
}
