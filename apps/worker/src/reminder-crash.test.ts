import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileMailing } from '@portal/testing/scenarios/crash-while-mailing';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak reminder-crash`, which includes `pnpm soak mail-crash`: a reminder's mail passes all steps of both.
// After each kill the jobs return within nine seconds; after the last one, leases run for another minute.
it(
  'loses no reminder mail although the worker is killed five times, and repeats only sends without an SMTP answer',
  { timeout: 300_000 },
  async () => {
    const result = await crashWhileMailing({
      databaseUrl: url,
      redisUrl: queuesOf(url),
      from: 'reminders',
      mails: 300,
      tenants: 1,
      kills: 5,
      deadlineMs: 280_000,
      say: () => undefined,
    });
    expect(result).toMatchObject({ kills: 5, lost: 0, unexplained: 0, otherMessageId: 0, untraced: 0 });
  },
);
