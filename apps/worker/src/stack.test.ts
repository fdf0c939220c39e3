import { describe, expect, it } from 'vitest';
import { exhaustSpace } from '@portal/testing/scenarios/full-disk';
import { rotateKeysUnderLoad } from '@portal/testing/scenarios/rotate-keys';
import { failOverRedis, loseRedis, restartPostgresUnderLoad } from '@portal/testing/scenarios/stack';
import { startRedis } from '@portal/testing/servers/redis';
import { startRedisSentinels } from '@portal/testing/servers/redis-sentinel';
import { serviceBinary } from '@portal/testing/services';

// The long form of the Redis test is `pnpm soak redis-loss`.
const timeout = 240_000;

it('answers 503 with Retry-After while PostgreSQL restarts under load, and loses nothing', { timeout }, async () => {
  const { stats, violations } = await restartPostgresUnderLoad({ restarts: 1, callers: 4 });
  expect(violations).toEqual([]);
  expect(stats.statuses[200]).toBeGreaterThan(0);
  expect(stats.statuses[503]).toBeGreaterThan(0);
});

it('rotates keys under load without a failed request', { timeout }, async () => {
  const { stats, violations } = await rotateKeysUnderLoad({ callers: 4, stepMs: 0 });
  expect(violations).toEqual([]);
  expect(stats.statuses[201]).toBeGreaterThan(0);
});

it('answers 503 to writes without disk space, and leaves nothing half-written', { timeout }, async () => {
  const { refused, violations } = await exhaustSpace({ rounds: 1 });
  expect(violations).toEqual([]);
  expect(refused).toBeGreaterThan(15);
});

describe.skipIf(!serviceBinary('redis-server'))('Redis that stops, and then is full', () => {
  it('loses no accepted work and does none twice', { timeout }, async () => {
    const redis = await startRedis();
    try {
      expect((await loseRedis({ awayMs: 2_000, mails: 3, redis })).violations).toEqual([]);
    } finally {
      await redis.stop();
    }
  });
});

describe.skipIf(!serviceBinary('redis-server'))('Redis whose primary is killed while sentinels watch it', () => {
  it('refuses nobody, loses no accepted work and does none twice', { timeout }, async () => {
    const sentinels = await startRedisSentinels();
    try {
      const redis = { url: sentinels.url, failOver: sentinels.killPrimary };
      const { stats, violations } = await failOverRedis({ redis, mails: 3, callers: 4 });
      expect(violations).toEqual([]);
      expect(stats.statuses[201]).toBeGreaterThan(0);
    } finally {
      await sentinels.stop();
    }
  });
});
