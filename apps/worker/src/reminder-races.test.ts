import { expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { raceReminders } from '@portal/testing/scenarios/race-reminders';

const { url } = await testDatabase();

it(
  'applies an edit, snooze or deletion at the due instant either fully or not at all; mail, notice and row agree',
  { timeout: 120_000 },
  async () => {
    const { calls, violations } = await raceReminders({
      databaseUrl: url,
      calls: 300,
      together: 100,
      people: 10,
      deadlineMs: 100_000,
      say: () => undefined,
    });
    expect(violations).toEqual([]);
    expect(calls).toBeGreaterThanOrEqual(300);
  },
);
