// Kills the worker at every step from a check to its mails while clouds fail and recover: each outage is mailed once, and so is its end
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileWatching } from '@portal/testing/scenarios/crash-while-watching';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '60' },
    redis: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const { kills, killsAt, expected, mailed, unexplained, inTheGap, otherMessageId, violations } =
    await crashWhileWatching({
      databaseUrl: server.url,
      redisUrl: redis?.url ?? null,
      instances: 3,
      people: 3,
      rounds: Number(values.rounds),
      deadlineMs: 90 * 60_000,
      say: (line) => console.log(line),
    });
  console.log(`queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${kills} kills: ${JSON.stringify(killsAt)}`);
  console.log(`mailed beginnings                       ${mailed.begun} of ${expected}`);
  console.log(`mailed ends                             ${mailed.ended} of ${expected}`);
  console.log(`repeats                                 ${inTheGap}`);
  console.log(`  that SMTP’s gap does not explain      ${unexplained}`);
  console.log(`  with another Message-ID               ${otherMessageId}`);
  for (const violation of violations) console.log(violation);
  const isComplete = mailed.begun === expected && mailed.ended === expected;
  const holds = isComplete && unexplained + otherMessageId + violations.length === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
