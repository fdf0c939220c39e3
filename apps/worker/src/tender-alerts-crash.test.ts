import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileAlerting } from '@portal/testing/scenarios/crash-while-alerting';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak tender-alerts`.
it('mails each tender once per kind of mail, although workers are killed', { timeout: 300_000 }, async () => {
  const { expected, ...result } = await crashWhileAlerting({
    databaseUrl: url,
    redisUrl: queuesOf(url),
    people: 3,
    tenders: 4,
    kills: 2,
    deadlineMs: 280_000,
    say: () => undefined,
  });
  expect(result).toEqual({
    kills: 2,
    mailed: { digest: expected, instant: expected },
    doubled: 0,
    unexplained: 0,
    pending: 0,
  });
});
