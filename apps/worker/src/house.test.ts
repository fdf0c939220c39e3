import { describe, expect, it } from 'vitest';
import { loseRoom } from '@portal/testing/scenarios/no-room';
import { rotateKeysUnderLoad } from '@portal/testing/scenarios/rotate-keys';
import { loseRedis, restartPostgresUnderLoad } from '@portal/testing/scenarios/stack';
import { startRedis } from '@portal/testing/servers/redis';
import { serviceBinary } from '@portal/testing/services';

// The long forms are `pnpm soak restarts`, `pnpm soak keys`, `pnpm soak no-room` and `pnpm soak redis-loss`.
const timeout = 240_000;

it('restarts of PostgreSQL under load are 503 with Retry-After, and lose nothing', { timeout }, async () => {
  const { met, violations } = await restartPostgresUnderLoad({ restarts: 1, callers: 4 });
  expect(violations).toEqual([]);
  expect(met.statuses[200]).toBeGreaterThan(0);
  expect(met.statuses[503]).toBeGreaterThan(0);
});

it('new keys come and old ones go, and whoever works notices nothing', { timeout }, async () => {
  const { met, violations } = await rotateKeysUnderLoad({ callers: 4, stepMs: 0 });
  expect(violations).toEqual([]);
  expect(met.statuses[201]).toBeGreaterThan(0);
});

it('no room for files or rows is 503 to what needs it, and leaves nothing half-written', { timeout }, async () => {
  const { refused, violations } = await loseRoom({ rounds: 1 });
  expect(violations).toEqual([]);
  expect(refused).toBeGreaterThan(15);
});

describe.skipIf(!serviceBinary('redis-server'))('Redis that is stopped, and then full', () => {
  it('loses no promise and doubles none', { timeout }, async () => {
    const redis = await startRedis();
    try {
      expect((await loseRedis({ awayMs: 2_000, mails: 3, redis })).violations).toEqual([]);
    } finally {
      await redis.stop();
    }
  });
});
