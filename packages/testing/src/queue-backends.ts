import { afterAll, beforeAll, describe } from 'vitest';
import { startRedisCluster } from './servers/redis-cluster.ts';
import { startRedis } from './servers/redis.ts';
import { serviceBinary } from './services.ts';
import { testMatrix } from './test-matrix.ts';

type Tests = (env: Record<string, string>) => void;

/**
 * Runs the same tests with queues in PostgreSQL and in Redis, or only with the backend of `TEST_QUEUES`. `env` has the settings of the
 * backend once the tests run.
 */
export function describeOnEachQueue(what: string, tests: Tests): void {
  describe.skipIf(testMatrix.queues === 'redis')(`${what}, queues in PostgreSQL`, () => tests({}));
  describe.skipIf(lacksRedis)(`${what}, queues in Redis`, () => onRedis(startRedis, tests));
}

/** Runs tests of the queues themselves on a cluster as well: the rest of the product does not notice where they are. */
export function describeOnEachKindOfQueue(what: string, tests: Tests): void {
  describeOnEachQueue(what, tests);
  describe.skipIf(lacksRedis)(`${what}, queues in a Redis Cluster`, () => onRedis(startRedisCluster, tests));
}

const lacksRedis = testMatrix.queues === 'postgres' || !serviceBinary('redis-server');

function onRedis(start: () => Promise<{ url: string; stop(): Promise<void> }>, tests: Tests): void {
  const env: Record<string, string> = {};
  let redis: { url: string; stop(): Promise<void> };
  beforeAll(async () => {
    redis = await start();
    env['REDIS_URL'] = redis.url;
  });
  // Registered before the hooks of the tests, so it runs after them: these hooks still need Redis.
  afterAll(() => redis.stop());
  tests(env);
}
