import { describe, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileFetching } from '@portal/testing/scenarios/crash-while-fetching';
import { serviceBinary } from '@portal/testing/services';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak invoice-crash`: only the steps around writes.
describe.skipIf(serviceBinary('dovecot') === null)('a worker that is killed while it fetches invoices', () => {
  it('stores each document once, with its file, and loses no mail', { timeout: 200_000 }, async () => {
    const result = await crashWhileFetching({
      databaseUrl: url,
      redisUrl: queuesOf(url),
      rounds: 1,
      life: 'program',
      steps: ['reading', 'written', 'moving', 'moved', 'any'],
      deadlineMs: 180_000,
      say: () => undefined,
    });
    expect(result).toMatchObject({ kills: 5, documents: 15, violations: [] });
  });
});
