// Kills the worker repeatedly at every step of fetching invoices: each document is stored once, none is lost, every file has a row
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileFetching } from '@portal/testing/scenarios/crash-while-fetching';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    redis: { type: 'boolean', default: false },
    /** Without the queue: runs resume at once after a kill, so many more kills fit into an hour. */
    direct: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const startedAt = performance.now();
  const result = await crashWhileFetching({
    databaseUrl: server.url,
    redisUrl: redis?.url ?? null,
    rounds: Number(values.rounds),
    life: values.direct ? 'program' : 'worker',
    deadlineMs: 90 * 60_000,
    say: (line) => console.log(line),
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  console.log(
    `queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${result.kills} kills, ${result.documents} documents, ${minutes} min`,
  );
  for (const [step, count] of Object.entries(result.killsAt)) console.log(`killed ${step.padEnd(12)} ${count}`);
  for (const violation of result.violations) console.log(violation);
  console.log(result.violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = result.violations.length === 0 ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
