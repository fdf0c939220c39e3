import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { describeOnEachQueue } from '@portal/testing/queue-backends';
import { crashWhileWatching } from '@portal/testing/scenarios/crash-while-watching';

// The short form of `pnpm soak cloud-crash`.
describeOnEachQueue('a worker that watches clouds', (env) => {
  const database = testDatabase();

  it(
    'tells each outage once when it begins and once when it ends, though it is killed at every step',
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
      const { expected, told, unexplained, otherMessageId, violations, kills } = result;
      expect({ told, unexplained, otherMessageId, violations }).toEqual({
        told: { begun: expected, ended: expected },
        unexplained: 0,
        otherMessageId: 0,
        violations: [],
      });
      expect(kills).toBeGreaterThanOrEqual(3);
    },
  );
});
