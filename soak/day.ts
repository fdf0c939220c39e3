// API and worker at a part of what they can do for 24 hours: memory grows by at most 1 % an hour, handles not at all
import { parseArgs } from 'node:util';
import { liveADay } from '@portal/testing/scenarios/house';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '1440' }, warmup: { type: 'string', default: '30' } },
});
const { met, perHour, handles, violations } = await liveADay({
  minutes: Number(values.minutes),
  warmUpMinutes: Number(values.warmup),
  say: (line) => console.log(line),
});
console.log(`answers by status ${JSON.stringify(met.statuses)}`);
for (const [name, growth] of Object.entries(perHour)) {
  console.log(`${name.padEnd(8)} memory ${(growth * 100).toFixed(2)} % an hour, handles ${handles[name]} more`);
  if (growth > 0.01) violations.push(`the memory of ${name} grows by more than 1 % an hour`);
}
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
