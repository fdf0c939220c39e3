// Stops Redis for a minute, empties it and fills it up under load: no mail is lost or repeated, and schedules return within a minute
import { parseArgs } from 'node:util';
import { loseRedis } from '@portal/testing/scenarios/stack';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, mails: { type: 'string', default: '200' } },
});
const redis = await startRedis();
try {
  const { schedulesBackMs, violations } = await loseRedis({
    awayMs: Number(values.seconds) * 1_000,
    mails: Number(values.mails),
    redis,
  });
  console.log(`schedules returned after ${(schedulesBackMs / 1_000).toFixed(1)} s`);
  for (const violation of violations) console.log(violation);
  console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await redis.stop();
}
