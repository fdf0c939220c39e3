// Runs two machines under load, kills each process, fails over PostgreSQL and Redis and upgrades: nothing is lost or done twice, no refusal but 503
import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { unpackRelease } from '@portal/testing/earlier-release';
import { longRun, runMachines, shortRun } from '@portal/testing/scenarios/machines';

const { values } = parseArgs({
  options: {
    /** Seconds without trouble after each step. */
    calm: { type: 'string', default: '8' },
    /** The commit whose release runs before the upgrade. */
    from: { type: 'string', default: 'HEAD~1' },
    /** Only the steps of the test. */
    short: { type: 'boolean', default: false },
    /** Folder for the logs of the programs. */
    logs: { type: 'string' },
  },
});
if (values.logs !== undefined) await mkdir(values.logs, { recursive: true });
const { steps, checked, violations } = await runMachines({
  steps: values.short ? shortRun : longRun,
  calmMs: Number(values.calm) * 1_000,
  from: await unpackRelease(values.from),
  logs: values.logs,
  say: (line) => console.log(line),
});

const heads = ['step', 'time', 'calls', 'succeeded', '503', '429', 'broken', 'longest gap', 'slowest'];
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
console.log(`\n| ${heads.join(' | ')} |\n| ${heads.map((_, n) => (n === 0 ? '---' : '--:')).join(' | ')} |`);
for (const { name, fromMs, toMs, calls, succeeded, unavailable, busy, broken, longestGapMs, slowestMs } of steps) {
  const counts = [calls, succeeded, unavailable, busy, broken];
  const row = [name, seconds(toMs - fromMs), ...counts, seconds(longestGapMs), seconds(slowestMs)];
  console.log(`| ${row.join(' | ')} |`);
}
const sum = (count: 'calls' | 'unavailable' | 'broken') => steps.reduce((all, step) => all + step[count], 0);
console.log(`\n${sum('calls')} calls, ${sum('unavailable')} refused with 503, ${sum('broken')} broken connections`);
for (const [kind, count] of Object.entries(checked.confirmed)) console.log(`${kind.padEnd(10)} ${count} confirmed`);
console.log(`${checked.repeatedMails} mails came again because something died between their acceptance and its record`);
for (const violation of violations) console.log(violation);
console.log(violations.length === 0 ? 'holds' : 'DOES NOT HOLD');
process.exitCode = violations.length === 0 ? 0 : 1;
