import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { serviceBinary } from '@portal/testing/services';

/** Runs commands of a document in one shell, as they stand there, and answers the status of each call of curl in turn. */
async function runCalls(commands: string, address: string): Promise<{ statuses: string[]; output: string }> {
  const bin = await mkdtemp(join(tmpdir(), 'portal-test-calls-'));
  try {
    const noted = join(bin, 'statuses');
    const curl = `#!/bin/bash\nexec ${serviceBinary('curl')} --write-out '%{stderr}%{http_code}\\n' "$@" 2>>'${noted}'\n`;
    await writeFile(join(bin, 'curl'), curl, { mode: 0o755 });
    await writeFile(noted, '');
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
    return { statuses: (await readFile(noted, 'utf8')).trim().split('\n'), output: stdout };
  } finally {
    await rm(bin, { recursive: true });
  }
}

/** What the document says of the calls: the line, and the status behind it. */
const saidIn = (commands: string): [line: string, status: string][] =>
  [...commands.matchAll(/^(.*\S)\s+# (\d{3})$/gm)].map(([, line = '', status = '']) => [line, status]);

/**
 * Runs the calls of a document against the API at `address` and expects each to answer the status that stands behind it.
 * Answers what they printed.
 */
export async function expectAsSaid(commands: string, address: string): Promise<string> {
  const said = saidIn(commands);
  const { statuses, output } = await runCalls(commands, address);
  expect(said.map(([line], n) => [line, statuses[n]])).toEqual(said);
  expect(statuses).toHaveLength(said.length);
  return output;
}
