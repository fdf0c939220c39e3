// Kills one of two workers at every step between a new tender and its mails: no tender is told twice by a kind of mail, and none is lost
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
  const { kills, expected, told, doubled, unexplained, owed } = result;
  console.log(`queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${kills} kills`);
  console.log(`tenders told, of ${expected}             ${told.instant} at once, ${told.digest} by digest`);
  console.log(`told twice by one kind of mail      ${doubled}`);
  console.log(`repeats that no kill explains       ${unexplained}`);
  console.log(`matches still owed                  ${owed}`);
  const isWhole = told.instant === expected && told.digest === expected;
  const holds = isWhole && doubled + unexplained + owed === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
