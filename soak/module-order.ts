// Orders, deletes, creates and fills categories in 10,000 rounds of random calls at the same time: no gap, no module lost
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { arrangeAtRandom } from '@portal/testing/scenarios/arrange-categories';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10000' } } });

const server = await startTestServer();
try {
  await migrateDatabase(server.url);
  const startedAt = performance.now();
  const { rounds, done, refused } = await arrangeAtRandom({
    databaseUrl: server.url,
    rounds: Number(values.rounds),
    say: (line) => console.log(line),
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  console.log(`${rounds} rounds, ${done} calls done, ${refused} refused, ${minutes} min: holds`);
} finally {
  await server.stop();
}
