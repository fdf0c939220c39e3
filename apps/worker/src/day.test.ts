import { expect, it } from 'vitest';
import { liveADay } from '@portal/testing/scenarios/live-a-day';

// The short form of `pnpm soak day`. One in a hundred an hour cannot be told within a minute; a handle or a kilobyte for each call can.
it('API and worker at work leave no handle, and hold on to nothing', { timeout: 240_000 }, async () => {
  const minutes = 1;
  // A round of work each second: a handle for each would be twenty more in the last third than in the first.
  const { met, memory, violations } = await liveADay({
    minutes,
    warmUpMinutes: 0.5,
    workEverySec: 1,
    pooled: 8,
    say: () => undefined,
  });
  expect(violations).toEqual([]);
  expect(met.statuses[201]).toBeGreaterThan(0);
  for (const name of ['api held', 'worker held'])
    expect(((memory[name]?.perHour ?? Infinity) * minutes) / 60, name).toBeLessThan(0.1);
});
