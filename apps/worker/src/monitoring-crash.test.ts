import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhilePolling } from '@portal/testing/scenarios/crash-while-polling';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak monitoring-crash`. After each kill the run returns within nine seconds.
it('polls all servers again within a minute of a kill, and counts nothing twice', { timeout: 300_000 }, async () => {
  const result = await crashWhilePolling({
    databaseUrl: url,
    redisUrl: queuesOf(url),
    servers: 80,
    kills: 2,
    deadlineMs: 280_000,
    say: () => undefined,
  });
  expect(result).toMatchObject({ kills: 3, wrongChanges: 0, wrongStates: 0, failedRuns: 0 });
  expect(result.longestGapMs).toBeLessThan(60_000);
});
