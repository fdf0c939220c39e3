import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileIngesting } from '@portal/testing/scenarios/crash-while-ingesting';
import { queuesOf } from '@portal/testing/test-matrix';

// The short form of `pnpm soak tender-crash`.
it('loses no notice and stores none twice, although it is killed while it reads', { timeout: 300_000 }, async () => {
  const { url } = await testDatabase();
  const result = await crashWhileIngesting({
    databaseUrl: url,
    redisUrl: queuesOf(url),
    notices: 60,
    kills: 1,
    deadlineMs: 280_000,
    say: () => undefined,
  });
  expect(result).toEqual({ kills: 1, lost: 0, misgrouped: 0, unfinished: 0, failedRuns: 0, filesLeft: [] });
});
