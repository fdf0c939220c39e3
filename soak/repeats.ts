// Runs the whole suite three times in random orders on one processor: no test depends on chance or on another test
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import config from '../vitest.config.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    /** Seed of the first order; each round takes the next. To repeat a failure, pass its seed and `--rounds 1`. */
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    processor: { type: 'string', default: '0' },
  },
});

interface Report {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

const root = join(import.meta.dirname, '..');
const folder = await mkdtemp(join(tmpdir(), 'portal-repeats-'));
// On one processor, concurrent work runs one after the other, in orders that a fast machine never shows.
const [pin, ...pinned] = process.platform === 'linux' ? ['taskset', '--cpu-list', values.processor] : [];

// Runs the projects one after the other: mixed, a worker would restart for each file and import everything again.
const projects = (config.test?.projects ?? []).map((project) => (project as { test: { name: string } }).test.name);

/** Runs the suite, or the files in the arguments, in the order of this seed. Returns the number of passed tests and the failures. */
async function runWith(seed: number): Promise<{ passed: number; failures: string[] }> {
  const results = [];
  for (const project of projects) results.push(await runProject(project, seed));
  return {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failures: results.flatMap(({ failures }) => failures),
  };
}

async function runProject(project: string, seed: number): Promise<{ passed: number; failures: string[] }> {
  const file = join(folder, `${seed}-${project}.json`);
  const vitest = [
    process.execPath,
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    ...positionals,
    `--project=${project}`,
    // The arguments may name only files of other projects.
    ...(positionals.length > 0 ? ['--passWithNoTests'] : []),
    '--sequence.shuffle.files',
    '--sequence.shuffle.tests',
    `--sequence.seed=${seed}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile=${file}`,
  ];
  const [program = '', ...args] = pin ? [pin, ...pinned, ...vitest] : vitest;
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = (await once(child, 'close')) as [number | null];
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return { passed: 0, failures: [`The suite ended with ${code} and without a report.`] };
  const { numPassedTests: passed, testResults } = JSON.parse(text) as Report;
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    const path = relative(root, name);
    // A file that did not load has no failed test.
    if (status === 'failed' && failed.length === 0) return [`${path}\n${message}`];
    return failed.map(({ fullName, failureMessages }) => `${path}: ${fullName}\n${failureMessages.join('\n')}`);
  });
  if (code !== 0 && failures.length === 0) failures.push(`The suite ended with ${code}, and none of its tests failed.`);
  return { passed, failures };
}

let failed = 0;
try {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const seed = Number(values.seed) + round;
    const startedAt = performance.now();
    const { passed, failures } = await runWith(seed);
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
    console.log(`seed ${seed}: ${passed} passed, ${failures.length} failed, ${minutes} min`);
    for (const failure of failures) console.log(`\n${failure}\n`);
    failed += failures.length;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(failed === 0 ? 'holds' : `does not hold: ${failed} failures`);
if (failed > 0) process.exitCode = 1;
