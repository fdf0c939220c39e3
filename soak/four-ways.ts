// The tests of every area with one worker and with four, queues in PostgreSQL and in Redis; or those of the files and folders named
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const root = dirname(import.meta.dirname);
const given = process.argv.slice(2);
const what = given.length > 0 ? given : ['packages/usecases', 'apps/worker', 'apps/api'];

/** What the run says at its end: each failure, and the counts. */
async function runTests(env: Record<string, string>): Promise<{ failures: string[]; counts: string; holds: boolean }> {
  // Four workers have four times as many connections: fewer files at once.
  const child = spawn(process.execPath, [join(root, 'scripts/test.ts'), '--maxWorkers=2', ...what], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) lines.push(line);
  const [code] = (await ended) as [number | null];
  return {
    failures: lines.filter((line) => line.startsWith('Failed: ')),
    counts: lines.at(-1) ?? 'said nothing',
    holds: code === 0,
  };
}

let holds = true;
for (const queues of ['postgres', 'redis'])
  for (const workers of [1, 4]) {
    const startedAt = performance.now();
    const result = await runTests({ TEST_QUEUES: queues, TEST_WORKERS: `${workers}` });
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
    console.log(`queues in ${queues.padEnd(8)}  workers ${workers}  ${result.counts.padEnd(40)} ${minutes} min`);
    for (const failure of result.failures) console.log(`  ${failure}`);
    holds &&= result.holds;
  }
console.log(holds ? 'holds' : 'DOES NOT HOLD');
process.exitCode = holds ? 0 : 1;
