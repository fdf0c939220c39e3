// Kills one of two workers at every step between a new tender and its mails: each kind of mail reports each tender exactly once
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileAlerting } from '@portal/testing/scenarios/crash-while-alerting';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '30' },
    people: { type: 'string', default: '20' },
    redis: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const result = await crashWhileAlerting({
    databaseUrl: server.url,
    redisUrl: redis?.url ?? null,
    people: Number(values.people),
    tenders: 5,
    kills: Number(values.kills),
    deadlineMs: 40 * 60_000,
    say: (line) => console.log(line),
  });
  const { kills, expected, mailed, doubled, unexplained, pending } = result;
  console.log(`queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${kills} kills`);
  console.log(`tenders mailed, of ${expected}           ${mailed.instant} at once, ${mailed.digest} by digest`);
  console.log(`mailed twice by one kind of mail    ${doubled}`);
  console.log(`repeats that no kill explains       ${unexplained}`);
  console.log(`matches still pending               ${pending}`);
  const isComplete = mailed.instant === expected && mailed.digest === expected;
  const holds = isComplete && doubled + unexplained + pending === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
