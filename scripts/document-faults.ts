import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

type RunTool = (name: string, ...args: string[]) => Promise<{ failed: boolean; output: string }>;

/** What those who build on the interface would hold against its document. */
export async function documentFaults(runTool: RunTool): Promise<{ failed: boolean; output: string }> {
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache', 'document-'));
  try {
    const document = relative(root, join(folder, 'openapi.json'));
    const printed = await promisify(execFile)(process.execPath, [join(root, 'scripts/openapi.ts')], {
      maxBuffer: 64 * 1024 * 1024,
    });
    await writeFile(join(root, document), printed.stdout);
    const findings = await Promise.all([
      runTool('redocly', 'lint', document, '--extends', 'recommended-strict'),
      runTool('spectral', 'lint', document, '--ruleset', '.spectral.yaml', '--fail-severity', 'warn'),
    ]);
    const failures = findings.filter(({ failed }) => failed);
    return { failed: failures.length > 0, output: failures.map(({ output }) => output).join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
