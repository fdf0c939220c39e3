import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileMailing } from '@portal/testing/scenarios/crash-while-mailing';
import { startTestServer } from '@portal/testing/server';
import { startRedis } from '@portal/testing/servers/redis';

/** The long crash run as a program: `--mails`, `--kills`, `--redis`. Counts lost and repeated mails; fails unless all is as it must be. */
export async function crashRun(
  from: 'outbox' | 'reminders',
  defaults: { mails: number; kills: number },
): Promise<void> {
  const { values } = parseArgs({
    options: {
      mails: { type: 'string', default: `${defaults.mails}` },
      kills: { type: 'string', default: `${defaults.kills}` },
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
      from,
      mails: Number(values.mails),
      tenants: 2,
      kills: Number(values.kills),
      deadlineMs: 90 * 60_000,
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
    if (from === 'reminders') console.log(`reminders without a trace of their mail     ${result.untraced}`);
    const { lost, unexplained, otherMessageId, untraced } = result;
    const holds = lost + unexplained + otherMessageId + untraced === 0;
    console.log(holds ? 'holds' : 'DOES NOT HOLD');
    process.exitCode = holds ? 0 : 1;
  } finally {
    await redis?.stop();
    await server.stop();
  }
}
