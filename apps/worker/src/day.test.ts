import { expect, it } from 'vitest';
import { liveADay } from '@portal/testing/scenarios/live-a-day';

// The short form of `pnpm soak day`. A minute shows a leak of a handle, and memory that grows by a tenth. A kilobyte for each request stays below
// that, and so does growth of 1 % an hour.
it('API and worker leak neither handles nor memory under load', { timeout: 240_000 }, async () => {
  const minutes = 1;
  // One round of work per second: a leaked handle per round would add twenty from the first third to the last.
  const { stats, memory, violations } = await liveADay({
    minutes,
    warmUpMinutes: 0.5,
    workEverySec: 1,
    pooled: 8,
    say: () => undefined,
  });
  expect(violations).toEqual([]);
  expect(stats.statuses[201]).toBeGreaterThan(0);
  for (const name of ['api held', 'worker held'])
    expect(((memory[name]?.perHour ?? Infinity) * minutes) / 60, name).toBeLessThan(0.1);
});
