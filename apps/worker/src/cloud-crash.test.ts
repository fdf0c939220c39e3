import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { crashWhileWatching } from '@portal/testing/scenarios/crash-while-watching';

// The short form of `pnpm soak cloud-crash`.
describeOnEachQueue('a worker that monitors clouds', (env) => {
  const database = testDatabase();

  it(
    'reports the begin and the end of each outage once, although it is killed at every step',
    { timeout: 300_000 },
    async () => {
      const { url } = await database;
      const result = await crashWhileWatching({
        databaseUrl: url,
        redisUrl: env['REDIS_URL'] ?? null,
        instances: 2,
        people: 2,
        rounds: 1,
        deadlineMs: 280_000,
        say: () => undefined,
      });
      const { expected, mailed, unexplained, otherMessageId, violations, kills } = result;
      expect({ mailed, unexplained, otherMessageId, violations }).toEqual({
        mailed: { begun: expected, ended: expected },
        unexplained: 0,
        otherMessageId: 0,
        violations: [],
      });
      expect(kills).toBeGreaterThanOrEqual(3);
    },
  );
});
