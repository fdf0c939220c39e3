import { afterAll, beforeAll, describe } from 'vitest';
import { startRedis, type TestRedis } from './servers/redis.ts';
import { serviceBinary } from './services.ts';
import { testMatrix } from './test-matrix.ts';

/**
 * Runs the same tests with queues in PostgreSQL and in Redis, or only with the backend of `TEST_QUEUES`. `env` has the settings of the
 * backend once the tests run.
 */
export function describeOnEachQueue(what: string, tests: (env: Record<string, string>) => void): void {
  describe.skipIf(testMatrix.queues === 'redis')(`${what}, queues in PostgreSQL`, () => tests({}));
  describe.skipIf(testMatrix.queues === 'postgres' || !serviceBinary('redis-server'))(
    `${what}, queues in Redis`,
    () => {
      const env: Record<string, string> = {};
      let redis: TestRedis;
      beforeAll(async () => {
        redis = await startRedis();
        env['REDIS_URL'] = redis.url;
      });
      // Registered before the hooks of the tests, so it runs after them: these hooks still need Redis.
      afterAll(() => redis.stop());
      tests(env);
    },
  );
}
