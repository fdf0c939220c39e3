// Kills the worker at random instants of one synchronization of 20,000 people: the run ends correctly, and the next one changes nothing
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { crashWhileSyncing } from '@portal/testing/scenarios/crash-while-syncing';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({
  options: { people: { type: 'string', default: '20000' }, kills: { type: 'string', default: '15' } },
});

const people = Number(values.people);
const server = await startTestServer();
try {
  await migrateDatabase(server.url);
  const { kills, run, accounts, memberships, leftToDo, staged } = await crashWhileSyncing({
    databaseUrl: server.url,
    people,
    kills: Number(values.kills),
    deadlineMs: 30 * 60_000,
    say: (line) => console.log(line),
  });
  console.log(`${kills} kills, the run ended ${run.state}`);
  console.log(`accounts                      ${accounts} of ${people}`);
  console.log(`accounts counted by the run   ${run.counts.created}`);
  console.log(`memberships                   ${memberships} of ${people}`);
  console.log(`changes left for the next run ${leftToDo}`);
  console.log(`people left in staging        ${staged}`);
  const holds =
    run.state === 'succeeded' &&
    accounts === people &&
    run.counts.created === people &&
    memberships === people &&
    leftToDo === 0 &&
    staged === 0;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await server.stop();
}
