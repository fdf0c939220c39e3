// pnpm check: every static check of the code; CI runs exactly this before the tests.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { boundaryFaults } from './boundaries.ts';
import { withDocument, writeClientTypes } from './interface-document.ts';
import { missingMigration } from './missing-migration.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

// Fix the first findings first; more output than this helps no reader
const outputLimit = 100_000;

interface Finding {
  failed: boolean;
  output: string;
}

// Programs, pages, and the browser tests, which run in Node and reach into pages.
const typed = ['tsconfig.json', 'apps/web/tsconfig.json', 'apps/web/test/tsconfig.json'];

// Checks that read the client's types wait until they are written.
const clientTypes = Promise.withResolvers<void>();

const steps: [name: string, check: () => Promise<Finding>][] = [
  ['format', () => runTool('oxfmt', '--check')],
  ['boundaries', async () => findingOf(boundaryFaults())],
  ['migrations', () => missingMigration(runTool)],
  ['interface', () => withDocument(checkDocument).finally(clientTypes.resolve)],
  ['lint', () => clientTypes.promise.then(() => runTool('oxlint'))],
  ['types', () => clientTypes.promise.then(() => joinFindings(typed.map(typesOf)))],
  ['sizes', () => run(process.execPath, 'scripts/web-sizes.ts')],
  ['dead code', () => clientTypes.promise.then(() => runTool('knip', '--no-progress', '--no-config-hints'))],
];

const results = await Promise.all(
  steps.map(async ([name, check]) => {
    const startedAt = performance.now();
    const { failed, output } = await check().catch((error: unknown) => ({ failed: true, output: String(error) }));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${failed ? '✗' : '✓'} ${name.padEnd(12)} ${seconds} s`);
    return { name, failed, output };
  }),
);

const failures = results.filter(({ failed }) => failed);
for (const { name, output } of failures) console.log(`\n── ${name} ──\n${output.trim()}`);
process.exitCode = failures.length > 0 ? 1 : 0;

function findingOf(faults: string[]): Finding {
  return { failed: faults.length > 0, output: faults.join('\n') };
}

/** Writes the client's types and lints the OpenAPI document. */
async function checkDocument(document: string): Promise<Finding> {
  await writeClientTypes(document);
  clientTypes.resolve();
  return joinFindings([
    // `/tenders/saved-searches/{id}` and `/tenders/{id}/triage` do not conflict: the router prefers a literal segment to a parameter.
    runTool('redocly', 'lint', document, '--extends', 'recommended-strict', '--skip-rule', 'no-ambiguous-paths'),
    runTool('spectral', 'lint', document, '--ruleset', '.spectral.yaml', '--fail-severity', 'warn'),
  ]);
}

/** With one checker: several would each work out the types of the packages they share, and other checks keep the other cores busy. */
function typesOf(project: string): Promise<Finding> {
  return runTool('tsc', '-p', project, '--checkers', '1');
}

/** The findings of several checks as one. */
async function joinFindings(checks: Promise<Finding>[]): Promise<Finding> {
  const failures = (await Promise.all(checks)).filter(({ failed }) => failed);
  return { failed: failures.length > 0, output: failures.map(({ output }) => output).join('\n') };
}

function runTool(name: string, ...args: string[]): Promise<Finding> {
  return run(join(root, 'node_modules', '.bin', name), ...args);
}

/** Runs a program in the root, without a terminal, so that it does not prompt. */
async function run(program: string, ...args: string[]): Promise<Finding> {
  const child = spawn(program, args, {
    cwd: root,
    // Checks stay offline: no telemetry, no search for a newer version.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const { promise, resolve, reject } = Promise.withResolvers<Finding>();
  let output = '';
  const keep = (text: string) => {
    if (output.length < outputLimit) output += text;
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.on('error', reject);
  child.on('close', (code) => resolve({ failed: code !== 0, output }));
  return promise;
}
