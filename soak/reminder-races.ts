// 10,000 edits, snoozes and deletions at the instant reminders become due: one side wins, and mail, notice and row agree
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@portal/db/migrate';
import { raceReminders } from '@portal/testing/scenarios/race-reminders';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '10000' } } });

const server = await startTestServer();
try {
  await migrateDatabase(server.url);
  const { calls, answers, violations } = await raceReminders({
    databaseUrl: server.url,
    calls: Number(values.calls),
    together: 200,
    people: 40,
    deadlineMs: 20 * 60_000,
    say: (line) => console.log(line),
  });
  for (const [answer, count] of Object.entries(answers).toSorted()) console.log(`${answer.padEnd(24)} ${count}`);
  for (const violation of violations.slice(0, 50)) console.log(violation);
  console.log(`${calls} calls, ${violations.length} violations`);
  console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await server.stop();
}
