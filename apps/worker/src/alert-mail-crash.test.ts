import { describe, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileReadingMails } from '@portal/testing/scenarios/crash-while-reading-mails';
import { serviceBinary } from '@portal/testing/services';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak alert-mail-crash`.
describe.skipIf(serviceBinary('dovecot') === null)('a worker that is killed while it reads alert mails', () => {
  it('stores each mail as one tender', { timeout: 200_000 }, async () => {
    const result = await crashWhileReadingMails({
      databaseUrl: url,
      redisUrl: queuesOf(url),
      rounds: 1,
      life: 'program',
      steps: ['listing', 'asking', 'storing'],
      deadlineMs: 180_000,
      say: () => undefined,
    });
    expect(result).toEqual({ kills: 3, mails: 9, violations: [] });
  });
});
