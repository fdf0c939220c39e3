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
  describeOnRedis(`${what}, queues in Redis`, startRedis, tests);
}

/** Runs tests of the queues themselves on a cluster as well: the rest of the product does not notice where they are. */
export function describeOnEachKindOfQueue(what: string, tests: Tests): void {
  describeOnEachQueue(what, tests);
  describeOnRedis(`${what}, queues in a Redis Cluster`, startRedisCluster, tests);
}

function describeOnRedis(what: string, start: () => Promise<{ url: string; stop(): Promise<void> }>, tests: Tests) {
  describe.skipIf(testMatrix.queues === 'postgres' || !serviceBinary('redis-server'))(what, () => {
    const env: Record<string, string> = {};
    let redis: { url: string; stop(): Promise<void> };
    beforeAll(async () => {
      redis = await start();
      env['REDIS_URL'] = redis.url;
    });
    // Registered before the hooks of the tests, so it runs after them: these hooks still need Redis.
    afterAll(() => redis.stop());
    tests(env);
  });
}
