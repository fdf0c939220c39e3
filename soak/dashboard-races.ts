// 1,000 rounds of every race for tabs, pictures and layouts: one winner, no gap, no file without its row
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { raceDashboards, raceNames } from '@portal/testing/scenarios/race-dashboards';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1000' } } });

const server = await startTestServer();
try {
  await migrateDatabase(server.url);
  for (const race of raceNames) {
    const startedAt = performance.now();
    await raceDashboards({ databaseUrl: server.url, race, rounds: Number(values.rounds) });
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${race.padEnd(28)} ${values.rounds} rounds hold, ${seconds} s`);
  }
} finally {
  await server.stop();
}
