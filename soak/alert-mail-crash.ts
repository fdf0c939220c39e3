// Kills the worker repeatedly at every step of reading alert mails: each mail becomes one tender, and the mailbox stays unchanged
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileReadingMails } from '@portal/testing/scenarios/crash-while-reading-mails';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    redis: { type: 'boolean', default: false },
    /** Without the queue: due work resumes at once after a kill, so many more kills fit into an hour. */
    direct: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const { kills, mails, violations } = await crashWhileReadingMails({
    databaseUrl: server.url,
    redisUrl: redis?.url ?? null,
    rounds: Number(values.rounds),
    life: values.direct ? 'program' : 'worker',
    deadlineMs: 90 * 60_000,
    say: (line) => console.log(line),
  });
  console.log(`queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${kills} kills, ${mails} mails`);
  for (const violation of violations) console.log(violation);
  console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
