import { spawn } from 'node:child_process';
import type { Account } from './embedded-account.ts';

export interface ProgramRun {
  args: string[];
  account: Account | null;
  timeoutMs: number;
  input?: string;
}

const outputLimit = 64 * 1024;

/** Runs one of PostgreSQL's programs to its end and gives what it printed. */
export async function runProgram(path: string, { args, account, timeoutMs, input }: ProgramRun): Promise<string> {
  const child = spawn(path, args, {
    ...serverSpawnOptions(account),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const keep = (chunk: string) => {
    output = (output + chunk).slice(-outputLimit);
  };
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  // A program that dies early closes its input; its exit code tells more than EPIPE
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.on('error', (cause) => reject(new Error(`${path} could not be started.`, { cause })));
  child.on('close', (code, signal) => {
    if (code === 0) resolve(output);
    else reject(new Error(`${path} ended with ${signal ?? `exit code ${code}`}:\n${output.trim()}`));
  });
  return promise;
}

/** How every program of PostgreSQL is started: as its account, out of the terminal's reach, blind to our settings. */
export function serverSpawnOptions(account: Account | null) {
  return {
    ...account,
    // Ctrl-C in the terminal must not end the database before the apps that use it
    detached: process.platform !== 'win32',
    cwd: process.platform === 'win32' ? undefined : '/',
    env: process.platform === 'win32' ? undefined : { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    windowsHide: true,
  };
}
