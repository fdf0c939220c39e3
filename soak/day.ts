// Runs API and worker at 30 % of their capacity for 24 hours: memory grows by at most 1 % an hour, handles not at all
import { parseArgs } from 'node:util';
import { liveADay } from '@portal/testing/scenarios/live-a-day';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1440' },
    warmup: { type: 'string' },
    /** Seconds between two rounds of work: with 0.4, an hour has as many rounds as a day has by default. */
    every: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const { stats, load, memory, handles, violations } = await liveADay({
  minutes,
  warmUpMinutes: values.warmup === undefined ? Math.min(30, minutes / 2) : Number(values.warmup),
  ...(values.every !== undefined && { workEverySec: Number(values.every) }),
  say: (line) => console.log(line),
});
const percent = (share: number) => `${(share * 100).toFixed(2)} %`;
console.log(`answers by status ${JSON.stringify(stats.statuses)}, API busy ${percent(load)}`);
for (const [name, { meanMiB, perHour, error }] of Object.entries(memory)) {
  console.log(`${name.padEnd(20)} ${meanMiB.toFixed(1)} MiB, grows ${percent(perHour)} ± ${percent(error)} an hour`);
  const grownBy = (perHour * minutes) / 60;
  if (error > 0.01 && grownBy < 0.1) console.log('                     this run is too short to measure 1 %');
  else if (perHour > 0.01) violations.push(`${name} grows by more than 1 % an hour`);
}
for (const [name, { first, last, more }] of Object.entries(handles))
  console.log(`${name.padEnd(20)} ${first} at the beginning, ${last} at the end, grown by ${more}`);
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
