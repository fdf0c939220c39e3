import { expect, it } from 'vitest';
import { liveADay } from '@portal/testing/scenarios/live-a-day';

// The short form of `pnpm soak day`. A minute cannot show growth of 1 % an hour, but it shows a leak of a handle or a kilobyte per call.
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
