import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { serviceBinary } from '@portal/testing/services';

/** Runs the commands of a document unchanged in one shell. Returns the status of each curl call in order. */
async function runCalls(commands: string, address: string): Promise<{ statuses: string[]; output: string }> {
  const bin = await mkdtemp(join(tmpdir(), 'portal-test-calls-'));
  try {
    const statusFile = join(bin, 'statuses');
    const curl = `#!/bin/bash\nexec ${serviceBinary('curl')} --write-out '%{stderr}%{http_code}\\n' "$@" 2>>'${statusFile}'\n`;
    await writeFile(join(bin, 'curl'), curl, { mode: 0o755 });
    await writeFile(statusFile, '');
    const { stdout, stderr } = await promisify(execFile)(
      'bash',
      ['--norc', '-c', commands.replaceAll('http://127.0.0.1:3000', address)],
      {
        cwd: join(import.meta.dirname, '..'),
        env: { PATH: `${bin}:${process.env['PATH']}` },
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    expect(stderr).toBe('');
    return { statuses: (await readFile(statusFile, 'utf8')).trim().split('\n'), output: stdout };
  } finally {
    await rm(bin, { recursive: true });
  }
}

/** The calls in a document with the status behind each: `curl … # 200`. */
const documentedCalls = (commands: string): [line: string, status: string][] =>
  [...commands.matchAll(/^(.*\S)\s+# (\d{3})$/gm)].map(([, line = '', status = '']) => [line, status]);

/**
 * Runs the calls of a document against the API at `address` and expects the documented status of each. Returns their output.
 */
export async function expectDocumentedStatuses(commands: string, address: string): Promise<string> {
  const documented = documentedCalls(commands);
  const { statuses, output } = await runCalls(commands, address);
  expect(documented.map(([line], n) => [line, statuses[n]])).toEqual(documented);
  expect(statuses).toHaveLength(documented.length);
  return output;
}
