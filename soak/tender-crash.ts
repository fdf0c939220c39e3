// Kills the worker at random instants while it reads its tender sources: no notice is lost, and none is stored twice
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileIngesting } from '@portal/testing/scenarios/crash-while-ingesting';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: {
    notices: { type: 'string', default: '400' },
    kills: { type: 'string', default: '20' },
    redis: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const result = await crashWhileIngesting({
    databaseUrl: server.url,
    redisUrl: redis?.url ?? null,
    notices: Number(values.notices),
    kills: Number(values.kills),
    deadlineMs: 40 * 60_000,
    say: (line) => console.log(line),
  });
  console.log(`queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${result.kills} kills`);
  console.log(`notices lost or out of date          ${result.lost}`);
  console.log(`procurements grouped wrongly         ${result.misgrouped}`);
  console.log(`unfinished tenders                   ${result.unfinished}`);
  console.log(`reads that failed                    ${result.failedRuns}`);
  console.log(`files left behind                    ${result.filesLeft.join(', ') || 'none'}`);
  const holds = result.lost + result.misgrouped + result.unfinished + result.failedRuns + result.filesLeft.length === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
