// Kills the worker at 50 random instants while 2,000 mails go out: none lost, repeats only where SMTP leaves a gap
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { startTestServer } from '@portal/db/testing/server';
import { startRedis } from '@portal/usecases/testing/redis';
import { crashWhileMailing } from './crash-while-mailing.ts';

const { values } = parseArgs({
  options: {
    mails: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '50' },
    redis: { type: 'boolean', default: false },
  },
});

const server = await startTestServer();
const redis = values.redis ? await startRedis() : null;
try {
  await migrateDatabase(server.url);
  const startedAt = performance.now();
  const result = await crashWhileMailing({
    databaseUrl: server.url,
    redisUrl: redis?.url ?? null,
    mails: Number(values.mails),
    tenants: 2,
    kills: Number(values.kills),
    deadlineMs: 30 * 60_000,
    say: (line) => console.log(line),
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  console.log(
    `queues in ${redis ? 'Redis' : 'PostgreSQL'}, ${result.kills} kills, ${values.mails} mails, ${minutes} min`,
  );
  console.log(`lost                                        ${result.lost}`);
  console.log(`repeated                                    ${result.repeated}`);
  console.log(`  accepted but unsettled when a worker died ${result.inTheGap}`);
  console.log(`  repeats the gap does not explain          ${result.unexplained}`);
  console.log(`  repeats with another Message-ID           ${result.otherMessageId}`);
  const holds = result.lost === 0 && result.unexplained === 0 && result.otherMessageId === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await redis?.stop();
  await server.stop();
}
