// Restarts PostgreSQL ten times under load: only 503 with Retry-After, back within three seconds, nothing lost
import { parseArgs } from 'node:util';
import { restartPostgresUnderLoad } from '@portal/testing/scenarios/house';

const { values } = parseArgs({
  options: { restarts: { type: 'string', default: '10' }, callers: { type: 'string', default: '32' } },
});
const { met, longestMs, violations } = await restartPostgresUnderLoad({
  restarts: Number(values.restarts),
  callers: Number(values.callers),
});
console.log(`answers by status      ${JSON.stringify(met.statuses)}`);
console.log(`longest way back       ${longestMs.toFixed(0)} ms`);
console.log(`reminders promised     ${met.promised.size}`);
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
