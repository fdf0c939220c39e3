// Migrates the first release's schema with a million rows while that release keeps working: no statement fails or waits five seconds
import { parseArgs } from 'node:util';
import { upgradeFromTheFirst } from '@portal/testing/scenarios/upgrade';
import { startTestServer } from '@portal/testing/server';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
const server = await startTestServer({ durable: true });
try {
  const { rows, migrationMs, longestBeforeMs, longestMs, violations } = await upgradeFromTheFirst({
    url: server.url,
    rows: Number(values.rows),
    say: (line) => console.log(line),
  });
  console.log(`${rows} rows, migrated in ${(migrationMs / 1_000).toFixed(1)} s`);
  console.log(
    `longest statement of the earlier release ${longestMs.toFixed(0)} ms, before ${longestBeforeMs.toFixed(0)} ms`,
  );
  for (const violation of violations) console.log(violation);
  console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await server.stop();
}
