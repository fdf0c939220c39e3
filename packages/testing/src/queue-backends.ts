import { afterAll, beforeAll, describe } from 'vitest';
import { startRedis, type TestRedis } from './servers/redis.ts';
import { serviceBinary } from './services.ts';
import { testMatrix } from './test-matrix.ts';

/** Describes the same behaviour once for each place the queues can live in, or for the one this run is about. `env` names it and is filled before the tests run. */
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
      // Registered before the tests' own, so it runs after them: they still need their Redis to end.
      afterAll(() => redis.stop());
      tests(env);
    },
  );
}
