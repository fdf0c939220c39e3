import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { crashWhileMailing } from '@portal/testing/scenarios/crash-while-mailing';
import { queuesOf } from '@portal/testing/test-matrix';

const { url } = await testDatabase();

// The short form of `pnpm soak reminder-crash`, and with it of `pnpm soak mail-crash`: a reminder's mail takes the whole way of both.
// After each kill the jobs come back in up to nine seconds, after the last one leases run a minute.
it(
  'loses no reminder’s mail while the worker is killed five times, and repeats only what SMTP leaves open',
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
