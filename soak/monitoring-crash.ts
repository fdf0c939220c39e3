// Kills the worker at random instants while it polls 300 servers: the next poll begins within a minute, and no change is counted twice
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhilePolling } from '@portal/testing/scenarios/crash-while-polling';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: {
    servers: { type: 'string', default: '300' },
    kills: { type: 'string', default: '15' },
    redis: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const result = await crashWhilePolling({
    databaseUrl: server.url,
    redisUrl: redis?.url ?? null,
    servers: Number(values.servers),
    kills: Number(values.kills),
    deadlineMs: 40 * 60_000,
    say: (line) => console.log(line),
  });
  console.log(`queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${result.kills} kills`);
  console.log(`longest wait for the next poll  ${(result.longestGapMs / 1_000).toFixed(1)} s`);
  console.log(`servers with wrong changes      ${result.wrongChanges} of ${values.servers}`);
  console.log(`servers in the wrong state      ${result.wrongStates} of ${values.servers}`);
  console.log(`runs that failed                ${result.failedRuns}`);
  const holds = result.longestGapMs < 60_000 && result.wrongChanges + result.wrongStates + result.failedRuns === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
