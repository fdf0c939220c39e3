// All benchmarks one after another, their figures on one page: limit, ratio and verdict of each; names as arguments run those alone
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { type Figure, figuresOf, programsOf } from '../scripts/bench-figures.ts';

const mostMinutes = 30;
const only = process.argv.slice(2);

const files: Record<string, string> = {};
for (const file of await readdir(import.meta.dirname)) {
  const name = /^(.+)\.ts$/.exec(file)?.[1];
  if (name !== undefined && name !== 'all') files[name] = await readFile(`${import.meta.dirname}/${file}`, 'utf8');
}
const programs = programsOf(files).filter((name) => only.length === 0 || only.includes(name));

interface Outcome {
  name: string;
  minutes: number;
  lines: { line: string; figures: Figure[] }[];
  failure: string | null;
}

/** One benchmark to its end, which is its failure where it does not come or is not good. */
async function run(name: string): Promise<Outcome> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [`${import.meta.dirname}/${name}.ts`], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: Outcome['lines'] = [];
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = `${errors}${chunk}`.slice(-2_000)));
  const reading = (async () => {
    for await (const line of createInterface(child.stdout)) lines.push({ line, figures: figuresOf(line) });
  })();
  const ended = new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => {
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), 20_000).unref();
      resolve(`did not end within ${mostMinutes} minutes`);
    }, mostMinutes * 60_000);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve(code === 0 ? null : `ended with ${signal ?? code}: ${errors.trim().split('\n').at(-1) ?? ''}`);
    });
  });
  const failure = await ended;
  await reading;
  return { name, minutes: (performance.now() - startedAt) / 60_000, lines, failure };
}

const outcomes: Outcome[] = [];
for (const [index, name] of programs.entries()) {
  console.error(`${index + 1} of ${programs.length}: ${name}`);
  outcomes.push(await run(name));
}

const verdict = (holds: boolean | null) => (holds === null ? '–' : holds ? 'holds' : 'FAILS');
for (const { name, minutes, lines, failure } of outcomes) {
  console.log(`\n${name} (${minutes.toFixed(1)} min)`);
  for (const { line, figures } of lines) {
    if (figures.length === 0) console.log(`         ${line}`);
    for (const { what, ours, limit, ratio, goal, holds } of figures) {
      const all = [ours, limit && `limit ${limit}`, ratio && `ratio ${ratio}`].filter(Boolean).join(', ');
      console.log(`  ${verdict(holds).padEnd(6)} ${what}: ${all} (${goal})`);
    }
  }
  if (failure !== null) console.log(`  FAILS  ${failure}`);
  else if (lines.length === 0) console.log('  FAILS  printed no figure');
}

const judged = outcomes.flatMap(({ lines }) =>
  lines.flatMap(({ figures }) => figures.flatMap(({ holds }) => holds ?? [])),
);
const broken = outcomes.filter(({ failure, lines }) => failure !== null || lines.length === 0).length;
const missed = judged.filter((holds) => !holds).length;
const minutes = outcomes.reduce((sum, outcome) => sum + outcome.minutes, 0);
console.log(
  `\n${outcomes.length} benchmarks in ${minutes.toFixed(0)} min: ${judged.length - missed} figures hold, ${missed} do not, ${broken} benchmarks did not end well`,
);
process.exitCode = missed + broken > 0 ? 1 : 0;
