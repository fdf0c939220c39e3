import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileWatching } from '@portal/testing/scenarios/crash-while-watching';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak cloud-crash`.
it(
  'reports the begin and the end of each outage once, although the worker is killed at every step',
  { timeout: 300_000 },
  async () => {
    const result = await crashWhileWatching({
      databaseUrl: url,
      redisUrl: queuesOf(url),
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
